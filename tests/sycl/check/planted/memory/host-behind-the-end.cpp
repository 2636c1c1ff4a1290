// case host
// note: the last work-item writes the element behind host memory.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i + 1] = in[i];  //~ out-of-bounds
}
