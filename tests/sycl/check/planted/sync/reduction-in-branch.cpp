// case line
// note: only work-items with an even number take part in the group's sum.
KERNEL k(const int *in, int *out, int n) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0);
  if (in[i] % 2 == 0)
    out[i] = sycl::reduce_over_group(it.get_group(), in[i], sycl::plus<int>());  //~ barrier-divergence
}
