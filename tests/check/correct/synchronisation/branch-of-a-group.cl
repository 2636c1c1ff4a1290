// run parts global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: whole groups take a branch with a barrier, others have more of them
kernel void parts(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0), g = get_group_id(0);
  tile[l] = in[i];
  if (g % 2 == 0) {
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - l];
  } else {
    for (int k = 0; k < g; k++)
      barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l ^ 1];
  }
}
