// run sparse global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),i32(128)
// note: whole groups return before the barrier
kernel void sparse(global const int *in, global int *out, int n) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  if ((int)get_group_id(0) * 64 >= n)
    return;
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[63 - l];
}
