// case line
// note: some work-items of a sub-group do not take part in its sum.
KERNEL k(const int *in, int *out, int n) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0);
  if (in[i] % 3 == 0)
    out[i] = sycl::reduce_over_group(it.get_sub_group(), in[i], sycl::plus<int>());  //~ sub-group-divergence
}
