// run sparse global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),i32(3)
// note: only one group of four takes the path without a barrier
kernel void sparse(global const int *in, global int *out, int special) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = in[i]; //~ race-work-items
  if ((int)get_group_id(0) != special)
    barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[l ^ 16]; //~^other
}
