// run blur global=256 local=64 args=buffer(f32,258,random),buffer(f32,256)
// note: neighbouring groups read the same elements and write their own
kernel void blur(global const float *in, global float *out) {
  local float tile[66];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = in[i];
  if (l < 2)
    tile[64 + l] = in[i + 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = (tile[l] + tile[l + 1] + tile[l + 2]) / 3.0f;
}
