// case scratch-input
// note: a branch depends on device memory that nothing has written.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  if (in[i] > 3)  //~ uninitialised-value
    out[i] = 1;
}
