// case scratch-input
// note: the host reads what was computed from memory that nothing has written.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] + 1;  //~ uninitialised-value
}
