// case ordered
// note: the second kernel waits for the event of the first.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] + 1;
}
KERNEL k2(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[n - 1 - i];
}
