// case tile
// note: one work-item clears the bins, and nothing makes the others wait for it.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  if (l == 0)
    for (int j = 0; j < 64; ++j) tile[j] = 0;  //~ mixed-atomic|race-work-items
  group_atomic<int>(tile[in[i] % 64]).fetch_add(1);  //~^other
  group_barrier(it.get_group());
  out[i] = tile[l];
}
