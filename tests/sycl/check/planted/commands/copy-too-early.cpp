// case copy-too-early
// note: a copy to other memory does not wait for the kernel that writes its source.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i] + 1;  //~ race-commands
}
