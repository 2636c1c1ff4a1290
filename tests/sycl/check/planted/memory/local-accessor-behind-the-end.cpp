// case tile
// note: each work-item fills its element and the next one of a local accessor of the group's size.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  tile[l] = in[i];
  if (l == 63) tile[l + 1] = in[i];  //~ local-bounds
  group_barrier(it.get_group());
  out[i] = tile[63 - l];
}
