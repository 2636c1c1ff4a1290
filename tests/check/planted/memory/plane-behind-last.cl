// run depth global=8x8x8 local=4x4x4 args=buffer(f32,512,random),buffer(f32,512)
// note: the work-items of the last plane read the plane behind it
kernel void depth(global const float *in, global float *out) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int here = (z * 8 + y) * 8 + x;
  out[here] = in[here + 64] * 0.5f; //~ out-of-bounds
}
