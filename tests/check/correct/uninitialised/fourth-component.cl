// run points global=32 local=32 args=buffer(f32,128,scratch)
// run norms global=32 local=32 args=same(0),buffer(f32,32)
// note: the fourth component is loaded with the others, and not used
kernel void points(global float *data) {
  int i = get_global_id(0);
  vstore3((float3)(i, 1.0f, 2.0f), 0, data + 4 * i);
}

kernel void norms(global const float *data, global float *out) {
  int i = get_global_id(0);
  float4 p = vload4(i, data);
  out[i] = dot(p.xyz, p.xyz);
}
