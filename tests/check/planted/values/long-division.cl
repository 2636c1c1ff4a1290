// run split global=64 local=64 args=buffer(i64,64,iota),buffer(i64,64)
// note: 64 bits: divided by an index that begins at zero. May crash without a checker
kernel void split(global const long *in, global long *out) {
  int i = get_global_id(0);
  out[i] = 1000000000000L / in[i]; //~ division-by-zero
}
