// case line
// note: the sum of a loop begins with what happens to be there, if the first number is odd.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  int sum[2];
  if (in[0] % 2 == 0) sum[in[0] & 1] = 0;
  for (int j = 0; j < 4; ++j) sum[j & 1] += in[(i + j) % n];
  out[i] = sum[0] + sum[1];  //~ uninitialised-value
}
