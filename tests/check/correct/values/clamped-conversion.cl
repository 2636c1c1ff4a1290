// run colours global=64 local=64 args=buffer(f32,64,iota),buffer(u8,64)
// note: clamped before the conversion
kernel void colours(global const float *in, global uchar *out) {
  int i = get_global_id(0);
  out[i] = (uchar)clamp(in[i] * 5.0f - 20.0f, 0.0f, 255.0f);
}
