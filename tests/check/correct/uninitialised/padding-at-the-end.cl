// run pairs global=64 local=64 args=buffer(i64,320,iota),buffer(i64,192,uninit)
// note: a structure of 18 bytes and 6 bytes of padding is made in private memory and copied whole.
struct pair {
  long sum;
  int count;
  short few[3];
};
static __attribute__((noinline)) struct pair add(struct pair a, long by) {
  struct pair sum = {a.sum + by, a.count + 1, {a.few[1], a.few[2], (short)by}};
  return sum;
}
kernel void pairs(global const long *in, global struct pair *out) {
  int i = get_global_id(0);
  struct pair sum = {1, 2, {3, 4, 5}};
  for (int j = 0; j < 5; ++j)
    if (in[i + j] & 1) sum = add(sum, in[i + j]);
  out[i] = sum;
}
