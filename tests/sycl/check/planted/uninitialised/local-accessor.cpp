// case tile
// note: only half of a local accessor is written before all of it is added.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  if (l < 32) tile[l] = in[i];
  group_barrier(it.get_group());
  out[i] = tile[63 - l] + 1;  //~ uninitialised-value
}
