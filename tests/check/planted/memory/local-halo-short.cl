// run stencil global=128 local=64 args=buffer(f32,130,random),buffer(f32,128)
// note: a tile with a halo on each side needs two elements more, and has one
kernel void stencil(global const float *in, global float *out) {
  local float tile[65];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = in[i];
  if (l < 2)
    tile[64 + l] = in[i + 64]; //~ local-bounds
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[l] + tile[l + 1] + tile[l + 2]; //~? local-bounds
}
