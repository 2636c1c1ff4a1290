// case line
// note: the divisor comes from memory, and is zero once.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = 1000 / in[i];  //~ division-by-zero
}
