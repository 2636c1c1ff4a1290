// case with-state
// note: many groups set one flag with a plain store of the same value.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = in[i];
  if (in[i] % 7 == 3) state[0] = 1;  //~ same-value-write
}
