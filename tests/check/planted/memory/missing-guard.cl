// run scale global=256 local=64 args=buffer(f32,250,random),buffer(f32,256),f32(2.0)
// note: the global size was rounded up to the group size, and no test keeps the last work-items out
kernel void scale(global const float *in, global float *out, float factor) {
  size_t i = get_global_id(0);
  out[i] = factor * in[i]; //~ out-of-bounds
}
