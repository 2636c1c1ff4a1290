// case line
// note: a test before the division, a count below the width, a result that is clamped before it is converted.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  const int by = in[i];
  const float large = sycl::fmin(float(by) * 1.0e8f, 2.0e9f);
  out[i] = (by ? 1000 / by : 0) + (1 << by % 32) + int(large);
}
