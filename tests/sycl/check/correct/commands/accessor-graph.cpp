// case accessor-graph
// note: buffers and accessors order five kernels.
KERNEL k(In in, Out out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[n - 1 - i] + 1;
}
