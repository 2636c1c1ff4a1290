// run partial global=512 local=32 args=buffer(i32,512,iota),buffer(i32,8)
// note: room for eight partial sums, and there are sixteen groups
kernel void partial(global const int *in, global int *sums) {
  int sum = work_group_reduce_add(in[get_global_id(0)]);
  if (get_local_id(0) == 0)
    sums[get_group_id(0)] = sum; //~ out-of-bounds
}
