// run scale global=64 local=64 args=buffer(f32,64,scratch),buffer(f32,64)
// note: the host reads results that come from memory nobody wrote
kernel void scale(global const float *in, global float *out) {
  int i = get_global_id(0);
  float value = in[i]; //~ uninitialised-value
  out[i] = 2.0f * value; //~^other
}
