// run remainders global=64 local=64 args=buffer(u32,64,iota),buffer(u32,64)
// note: only one work-item divides by zero. May crash without a checker
kernel void remainders(global const uint *in, global uint *out) {
  int i = get_global_id(0);
  uint by = in[i] ^ 17;
  out[i] = 1000 % by; //~ division-by-zero
}
