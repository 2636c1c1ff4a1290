// case line
// note: an index that comes from memory leaves a private array.
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  int mine[8];
  for (int j = 0; j < 8; ++j) mine[j] = in[(i + j) % n];
  out[i] = mine[in[i] % 9];  //~ private-bounds
}
