// case with-state
// note: the same lock of relaxed operations and fences.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  out[i] = in[i];
  if (l == 0) {
    device_atomic<int> lock(state[0]);
    for (int expected = 0; !lock.compare_exchange_strong(expected, 1); expected = 0) {}
    sycl::atomic_fence(memory_order::acquire, memory_scope::device);
    state[64] += in[i];
    sycl::atomic_fence(memory_order::release, memory_scope::device);
    lock.store(0);
  }
}
