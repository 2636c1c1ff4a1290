// case host-task
// note: a task of the host between two kernels.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] + 1;
}
