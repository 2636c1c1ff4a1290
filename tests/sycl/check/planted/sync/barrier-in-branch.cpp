// case tile
// note: half of the group waits at a barrier that the other half does not reach.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  tile[l] = in[i];
  if (l < 32) group_barrier(it.get_group());  //~ barrier-divergence
  out[i] = tile[l];
}
