// run divide global=64 local=64 args=buffer(i32,64,-2147483648),buffer(i32,64),i32(-1)
// note: the quotient of the smallest int and -1 is no int. May crash without a checker
kernel void divide(global const int *in, global int *out, int by) {
  int i = get_global_id(0);
  out[i] = (in[i] + i) / by; //~ division-by-zero
}
