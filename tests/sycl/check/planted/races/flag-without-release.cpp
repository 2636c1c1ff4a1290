// case with-state
// optimised
// note: each group publishes its sum behind a flag that is set with a relaxed store, which orders nothing.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  const int g = it.get_group_linear_id();
  if (l == 0) {
    state[64 + g] = in[g] + 1;  //~ race-groups
    device_atomic<int>(state[g]).store(1);
    if (g > 0 && device_atomic<int>(state[g - 1]).load() == 1)
      out[g] = state[64 + g - 1];  //~^other
  }
}
