// case line
// note: the product is greater than the integer type can hold.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = int(float(in[i]) * 1.0e8f);  //~ conversion-range
}
