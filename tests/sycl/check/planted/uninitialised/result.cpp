// case scratch-output
// note: the host reads a result of which the kernel has written every other element.
// expect: uninitialised-value
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  if (i % 2) out[i] = in[i];
}
