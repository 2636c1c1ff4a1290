// case two-queues
// note: the kernels are in two queues, and the second does not wait for the first.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] + 1;  //~ race-commands
}
KERNEL k2(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[n - 1 - i];  //~^other
}
