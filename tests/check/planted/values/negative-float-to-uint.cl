// run indices global=64 local=64 args=buffer(f32,64,iota),buffer(u32,64)
// note: a negative float is no uint
kernel void indices(global const float *in, global uint *out) {
  int i = get_global_id(0);
  out[i] = (uint)(in[i] - 8.0f); //~ conversion-range
}
