// case tile
// note: the second round overwrites the tile while others still read the first.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  int sum = 0;
  for (int round = 0; round < 2; ++round) {
    tile[l] = in[i] + round;  //~ race-work-items
    group_barrier(it.get_group());
    sum += tile[63 - l];  //~^other
  }
  out[i] = sum;
}
