// case tile
// note: a work-item reads what its neighbour has just written into local memory.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  tile[l] = in[i];    //~ race-work-items
  out[i] = tile[63 - l];  //~^other
}
