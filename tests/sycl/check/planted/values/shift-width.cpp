// case line
// note: the number of bits comes from memory, and reaches the width of the type.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = 1 << in[i] / 4;  //~ shift-width
}
