// case mixed-kinds
// note: from shared over device to host memory.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[n - 1 - i];
}
