// run divide global=64 local=64 args=buffer(i32,64,random),buffer(i32,64),i32(0)
// note: the divisor is an argument that is zero. May crash without a checker
kernel void divide(global const int *in, global int *out, int by) {
  int i = get_global_id(0);
  out[i] = in[i] / by; //~ division-by-zero
}
