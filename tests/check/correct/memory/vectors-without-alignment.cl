// run window global=60 local=20 args=buffer(f32,63,random),buffer(f32,60)
// note: vload4 needs the alignment of an element only
kernel void window(global const float *in, global float *out) {
  int i = get_global_id(0);
  float4 v = vload4(0, in + i);
  out[i] = 0.25f * (v.x + v.y + v.z + v.w);
}
