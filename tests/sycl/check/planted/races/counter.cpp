// case with-state
// note: all groups count without an atomic operation.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = in[i];
  if (l == 0) state[0] += 1;  //~ race-groups
}
