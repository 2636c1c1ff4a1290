// run ratio global=64 local=64 args=buffer(f32,64,iota),buffer(f32,64)
// note: floats may be divided by zero
kernel void ratio(global const float *in, global float *out) {
  int i = get_global_id(0);
  out[i] = 1.0f / in[i] + in[i] / (in[i] - 5.0f);
}
