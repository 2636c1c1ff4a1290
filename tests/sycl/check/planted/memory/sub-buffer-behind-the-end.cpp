// case sub-buffers
// note: the second half of a buffer ends where the buffer ends.
KERNEL k(In in, Out out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i + 1];  //~ out-of-bounds
}
