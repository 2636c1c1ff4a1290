// run swap global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// strict
// note: neighbours of one sub-group exchange values with a barrier of the sub-group
kernel void swap(global const int *in, global int *out) {
  local int tile[64];
  int first = get_sub_group_id() * get_max_sub_group_size(), s = get_sub_group_local_id();
  int l = get_local_id(0);
  tile[first + s] = in[l];
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = tile[first + (s ^ 1)];
}
