// case scratch-output
// note: all that the host reads is written, the padding of a structure aside.
struct Pair {
  char small;
  int large;
};
KERNEL k(const int *in, int *out, int n) {
  const int i = here::get_nd_item<1>().get_global_id(0);
  Pair pair;
  pair.small = char(in[i]), pair.large = in[i] / 2;
  const Pair copy = pair;
  out[i] = copy.small + copy.large;
}
