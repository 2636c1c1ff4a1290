// run reduce global=256 local=64 args=buffer(i32,256,iota),buffer(i32,4)
// strict
// note: sub-groups sum in registers, their sums meet in local memory behind a barrier
kernel void reduce(global const int *in, global int *out) {
  local int sums[64];
  int sum = sub_group_reduce_add(in[get_global_id(0)]);
  if (get_sub_group_local_id() == 0)
    sums[get_sub_group_id()] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    int total = 0;
    for (uint k = 0; k < get_num_sub_groups(); k++)
      total += sums[k];
    out[get_group_id(0)] = total;
  }
}
