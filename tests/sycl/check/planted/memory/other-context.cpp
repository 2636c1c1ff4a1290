// case foreign-input
// note: the memory belongs to a queue of another context.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  out[i] = in[i];  //~ foreign-context
}
