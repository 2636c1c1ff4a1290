// case with-state
// note: bins in local memory, which are added to those of the device.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  tile[l] = 0;
  group_barrier(it.get_group());
  group_atomic<int>(tile[in[i] * 7 % 64]).fetch_add(1);
  group_barrier(it.get_group());
  device_atomic<int>(state[l]).fetch_add(tile[l]);
  out[i] = tile[l];
}
