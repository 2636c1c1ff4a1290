// case accessors
// note: an accessor is indexed by its length.
KERNEL k(In in, Out out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i + (i == n - 1)];  //~ out-of-bounds
}
