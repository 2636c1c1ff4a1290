// case line
// note: the last work-item reads the element behind the array.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i + 1];  //~ out-of-bounds
}
