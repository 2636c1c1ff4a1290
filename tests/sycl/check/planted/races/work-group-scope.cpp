// case with-state
// optimised
// note: groups count with atomic operations whose scope is the work-group.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = in[i];
  using counter = sycl::atomic_ref<int, memory_order::relaxed, memory_scope::work_group>;
  if (l == 0) counter(state[0]).fetch_add(1);  //~ atomic-scope
}
