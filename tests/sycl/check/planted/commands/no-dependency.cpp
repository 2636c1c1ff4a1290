// case unordered
// note: two kernels in a queue that is not in order, and nothing makes the second wait.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] + 1;  //~ race-commands
}
KERNEL k2(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[n - 1 - i];  //~^other
}
