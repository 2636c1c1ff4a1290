// run vertical global=32x32 local=8x8 args=buffer(f32,1024,random),buffer(f32,1024)
// note: a stencil reads the row below the last one
kernel void vertical(global const float *in, global float *out) {
  int x = get_global_id(0), y = get_global_id(1);
  int w = get_global_size(0);
  float here = in[y * w + x];
  float below = in[(y + 1) * w + x]; //~ out-of-bounds
  out[y * w + x] = below - here;
}
