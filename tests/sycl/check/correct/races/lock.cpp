// case with-state
// note: one work-item of each group adds under a lock that compare-exchange takes.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = in[i];
  if (l == 0) {
    sycl::atomic_ref<int, memory_order::acq_rel, memory_scope::device> lock(state[0]);
    for (int expected = 0; !lock.compare_exchange_strong(expected, 1); expected = 0) {}
    state[64] += in[i];
    lock.store(0, memory_order::release);
  }
}
