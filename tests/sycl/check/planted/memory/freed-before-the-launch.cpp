// case freed-input
// note: the host has freed the memory before it submits the kernel.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i];  //~ use-after-free
}
