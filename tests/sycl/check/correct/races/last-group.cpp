// case with-state
// note: the group that counts last adds what all groups have written before.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  const int g = it.get_group_linear_id(), groups = it.get_group_range(0);
  out[i] = 0;
  const int sum = sycl::reduce_over_group(it.get_group(), in[i], sycl::plus<int>());
  if (l == 0) {
    state[64 + g] = sum;
    sycl::atomic_ref<int, memory_order::acq_rel, memory_scope::device> count(state[0]);
    tile[0] = count.fetch_add(1) == groups - 1;
  }
  group_barrier(it.get_group());
  if (tile[0] && l < groups) out[l] = state[64 + l];
}
