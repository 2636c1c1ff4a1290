// run divide global=16 local=16 args=buffer(i32,64,iota),buffer(i32,64)
// note: one component of one vector is zero. May crash without a checker
kernel void divide(global const int *in, global int *out) {
  int i = get_global_id(0);
  int4 by = vload4(i, in);
  int4 quotient = (int4)(100) / by; //~ division-by-zero
  vstore4(quotient, i, out);
}
