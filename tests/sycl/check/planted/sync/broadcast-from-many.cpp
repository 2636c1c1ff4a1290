// case line
// note: each work-item names itself as the source of the group's broadcast.
KERNEL k(const int *in, int *out, int n) {
  const auto it = here::get_nd_item<1>();
  const int i = it.get_global_id(0);
  out[i] = sycl::group_broadcast(it.get_group(), in[i], it.get_local_linear_id());  //~ non-uniform-argument
}
