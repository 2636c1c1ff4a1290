// run points global=32 local=32 args=buffer(f32,128,scratch)
// run norms global=32 local=32 args=same(0),buffer(f32,32)
// note: points are written with three components and read with four
kernel void points(global float *data) {
  int i = get_global_id(0);
  vstore3((float3)(i, 1.0f, 2.0f), 0, data + 4 * i);
}

kernel void norms(global const float *data, global float *out) {
  int i = get_global_id(0);
  float4 p = vload4(i, data); //~ uninitialised-value
  out[i] = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w; //~^other
}
