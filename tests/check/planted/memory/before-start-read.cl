// run difference global=256 local=64 args=buffer(f32,256,random),buffer(f32,256)
// note: the first work-item has no left neighbour
kernel void difference(global const float *in, global float *out) {
  int i = get_global_id(0);
  float here = in[i];
  float left = in[i - 1]; //~ out-of-bounds
  out[i] = here - left;
}
