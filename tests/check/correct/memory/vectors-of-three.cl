// run cross_products global=20 local=20 args=buffer(f32,60,random),buffer(f32,60)
// note: vload3 and vstore3 take twelve bytes, not sixteen
kernel void cross_products(global const float *in, global float *out) {
  int i = get_global_id(0);
  float3 v = vload3(i, in);
  float3 w = vload3(19 - i, in);
  vstore3(cross(v, w), i, out);
}
