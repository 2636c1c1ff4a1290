// case mixed-kinds
// note: scratch memory of the device is written by one kernel and read by the next.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] * 2;
}
