// case tile
// note: whole groups take the branch with the barrier.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  tile[l] = in[i];
  if (it.get_group_linear_id() % 2 == 0) group_barrier(it.get_group());
  out[i] = it.get_group_linear_id() % 2 == 0 ? tile[63 - l] : tile[l];
}
