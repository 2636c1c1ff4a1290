// run ticks global=64 local=64 args=buffer(f64,64,iota),buffer(i64,64)
// note: doubles beyond 2^63 are no longs
kernel void ticks(global const double *in, global long *out) {
  int i = get_global_id(0);
  out[i] = (long)(in[i] * 1e18); //~ conversion-range
}
