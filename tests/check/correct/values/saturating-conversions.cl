// run truncate global=64 local=64 args=buffer(f32,64,iota),buffer(i32,64)
// note: conversions with _sat take any number, and also what is none
kernel void truncate(global const float *in, global int *out) {
  int i = get_global_id(0);
  float none = in[i] / in[i];
  out[i] = convert_int_sat(in[i] * 1e9f) + convert_uchar_sat(in[i] * -5.0f) + convert_short_sat(none);
}
