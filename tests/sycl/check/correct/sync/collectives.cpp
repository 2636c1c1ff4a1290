// case line
// note: functions of the group and of the sub-group, which all work-items reach.
KERNEL k(const int *in, int *out, int n) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0);
  const int first = sycl::group_broadcast(it.get_group(), in[i], 3);
  const bool any = sycl::any_of_group(it.get_sub_group(), in[i] % 5 == 0);
  out[i] = first + any + sycl::exclusive_scan_over_group(it.get_group(), in[i], sycl::plus<int>());
}
