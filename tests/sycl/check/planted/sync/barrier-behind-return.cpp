// case tile
// note: work-items beyond the data leave before the barrier.
KERNEL k(const int *in, int *out, int n, local_accessor<int, 1> tile) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0), l = it.get_local_id(0);
  if (i % 100 == 99) return;  //~? barrier-divergence
  tile[l] = in[i];
  it.barrier(sycl::access::fence_space::local_space);  //~ barrier-divergence
  out[i] = tile[l];
}
