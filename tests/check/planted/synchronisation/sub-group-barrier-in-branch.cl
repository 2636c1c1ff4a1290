// run stage global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a barrier of the sub-group in a branch that parts it
kernel void stage(global const int *in, global int *out) {
  int l = get_local_id(0);
  int value = in[l];
  if (get_sub_group_local_id() < 3) {
    value += 2;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE); //~ sub-group-divergence
  }
  out[l] = value;
}
