// run k global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a part of a sub-group votes, which needs no others, before all meet at a barrier.
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
kernel void k(global const int *in, global int *out) {
  int i = get_global_id(0);
  uint4 votes = 0;
  if (in[i] % 2)
    votes = sub_group_ballot(in[i] % 3 == 0);
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = votes.x != 0;
}
