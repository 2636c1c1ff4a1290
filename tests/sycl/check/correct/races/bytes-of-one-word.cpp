// case line
// note: work-items write the bytes of one word.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  reinterpret_cast<unsigned char *>(out)[i] = in[i];
}
