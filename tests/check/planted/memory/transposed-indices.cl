// run copy global=32x16 local=16x4 args=buffer(f32,512,random),buffer(f32,512),i32(32)
// note: x and y are swapped: harmless for square matrices, and this one is 32 wide and 16 high
kernel void copy(global const float *in, global float *out, int width) {
  int x = get_global_id(0), y = get_global_id(1);
  float value = in[y * width + x];
  out[x * width + y] = value; //~ out-of-bounds
}
