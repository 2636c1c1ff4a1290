// run truncate global=64 local=64 args=buffer(f32,64,iota),buffer(i32,64)
// note: a float of 10^10 is no int
kernel void truncate(global const float *in, global int *out) {
  int i = get_global_id(0);
  out[i] = (int)(in[i] * 1e9f); //~ conversion-range
}
