// case freed-too-early
// note: the host frees memory before it has waited for the kernel that reads it.
// expect: use-after-free
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i];  //~? use-after-free
}
