// run window global=128 local=32 args=buffer(f32,128,random),buffer(f32,128)
// note: a window of four that slides by one leaves the array at its end
kernel void window(global const float *in, global float *out) {
  int i = get_global_id(0);
  float4 v = vload4(0, in + i); //~ out-of-bounds
  out[i] = 0.25f * (v.x + v.y + v.z + v.w);
}
