// case line
// note: some work-items of a sub-group do not reach its barrier.
KERNEL k(const int *in, int *out, int n) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0);
  if (in[i] % 2) group_barrier(it.get_sub_group());  //~ sub-group-divergence
  out[i] = in[i];
}
