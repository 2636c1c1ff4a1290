// case line
// note: a sum by exchange within sub-groups, without memory.
KERNEL k(const int *in, int *out, int n) {
  const auto it = here::get_nd_item<1>();
  const auto sub = it.get_sub_group();
  const int i = it.get_global_id(0);
  int sum = in[i];
  for (int step = sub.get_local_linear_range() / 2; step > 0; step /= 2)
    sum += sycl::permute_group_by_xor(sub, sum, step);
  const int left = sycl::shift_group_right(sub, in[i], 1);
  out[i] = sum + (sub.get_local_linear_id() ? left : 0);
}
