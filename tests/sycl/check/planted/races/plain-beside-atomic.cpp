// case with-state
// note: a plain read of a counter that other groups add to.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  if (l == 0) device_atomic<int>(state[0]).fetch_add(1);  //~ mixed-atomic
  if (l == 0) out[it.get_group_linear_id()] = state[0];  //~^other
}
