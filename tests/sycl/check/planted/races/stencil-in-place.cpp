// case line
// note: a group writes an element that the group after it reads.
KERNEL k(const int *, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  const int left = out[(i + n - 1) % n];  //~ race-groups|race-work-items
  out[i] = left + 1;  //~^other
}
