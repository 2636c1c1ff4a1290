// run ratio global=64 local=64 args=buffer(f32,64,iota),buffer(i32,64)
// note: 0 / 0 is not a number, and not an int
kernel void ratio(global const float *in, global int *out) {
  int i = get_global_id(0);
  float value = in[i] / in[i];
  out[i] = (int)value; //~ conversion-range
}
