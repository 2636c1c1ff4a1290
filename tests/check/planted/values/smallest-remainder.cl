// run wrap global=64 local=64 args=buffer(i64,64,-9223372036854775808),buffer(i64,64),i64(-1)
// note: the remainder overflows with its quotient. May crash without a checker
kernel void wrap(global const long *in, global long *out, long by) {
  int i = get_global_id(0);
  out[i] = in[i] % by; //~ division-by-zero
}
