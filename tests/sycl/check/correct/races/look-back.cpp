// case with-state
// note: a scan in one pass: each group takes a number, and waits for the sums of the groups with lower ones.
KERNEL k(const int *in, int *out, int *state, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  using flag = sycl::atomic_ref<int, memory_order::relaxed, memory_scope::device>;
  int ticket = 0;
  if (l == 0) ticket = flag(state[0]).fetch_add(1);
  ticket = sycl::group_broadcast(it.get_group(), ticket, 0);
  const int at = ticket * 64 + l;
  const int mine = sycl::inclusive_scan_over_group(it.get_group(), in[at], sycl::plus<int>());
  if (l == 63) tile[0] = mine;
  group_barrier(it.get_group());
  if (l == 0) {
    int before = 0;
    if (ticket > 0) {
      while (flag(state[64 + ticket - 1]).load(memory_order::acquire) == 0) {}
      before = state[128 + ticket - 1];
    }
    state[128 + ticket] = before + tile[0];
    flag(state[64 + ticket]).store(1, memory_order::release);
    tile[1] = before;
  }
  group_barrier(it.get_group());
  out[at] = tile[1] + mine;
}
