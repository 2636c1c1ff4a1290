// run load global=15 local=15 args=buffer(i32,64,iota),buffer(i32,16),i32(1)
// note: a pointer to int4 must be a multiple of 16; vload4 would not need that. May crash without a checker
kernel void load(global const int *in, global int *out, int shift) {
  int i = get_global_id(0);
  global const int4 *vectors = (global const int4 *)(in + shift);
  int4 v = vectors[i]; //~ misaligned
  out[i] = v.x ^ v.w; //~^other
}
