// run colours global=64 local=64 args=buffer(f32,64,iota),buffer(u8,64)
// note: colours above 255 are not clamped before they become bytes
kernel void colours(global const float *in, global uchar *out) {
  int i = get_global_id(0);
  out[i] = (uchar)(in[i] * 5.0f); //~ conversion-range
}
