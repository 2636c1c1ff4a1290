// case line
// note: the last work-item's read is not carried out.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = i + 1 < n ? in[i + 1] : 0;
}
