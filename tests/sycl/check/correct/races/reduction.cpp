// case tile
// note: a tree in local memory, with a barrier in each round.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  tile[l] = in[i];
  group_barrier(it.get_group());
  for (int step = 32; step > 0; step /= 2) {
    if (l < step) tile[l] += tile[l + step];
    group_barrier(it.get_group());
  }
  out[i] = tile[0] + l;
}
