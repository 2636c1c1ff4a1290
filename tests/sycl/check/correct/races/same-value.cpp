// case with-state
// allow: same-value
// note: many groups set one flag, which is allowed.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = in[i];
  if (in[i] % 7 == 3) state[0] = 1;
}
