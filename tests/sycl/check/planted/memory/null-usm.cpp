// case null-input
// note: an optional argument is read without a test.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i];  //~ null-pointer
}
