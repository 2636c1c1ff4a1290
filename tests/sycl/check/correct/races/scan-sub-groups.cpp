// case tile
// note: a scan within sub-groups, whose sums one sub-group scans.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  const auto sub = it.get_sub_group();
  const int own = in[i], mine = sycl::inclusive_scan_over_group(sub, own, sycl::plus<int>());
  const int which = sub.get_group_linear_id(), last = sub.get_local_linear_range() - 1;
  if (int(sub.get_local_linear_id()) == last) tile[which] = mine;
  group_barrier(it.get_group());
  int before = 0;
  for (int j = 0; j < which; ++j) before += tile[j];
  out[i] = before + mine;
}
