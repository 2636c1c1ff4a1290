// case with-state
// note: work-items append to a list, whose places an atomic counter gives away.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = 0;
  if (in[i] % 3 == 0) state[1 + device_atomic<int>(state[0]).fetch_add(1)] = in[i];
}
