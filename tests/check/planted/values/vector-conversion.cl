// run quantise global=16 local=16 args=buffer(f32,64,iota),buffer(i16,64)
// note: convert_short4 without _sat, and 40000 is no short
kernel void quantise(global const float *in, global short *out) {
  int i = get_global_id(0);
  float4 scaled = vload4(i, in) * 800.0f;
  vstore4(convert_short4(scaled), i, out); //~ conversion-range
}
