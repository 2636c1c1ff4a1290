// run publish global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: two phases, and the barrier between them was put into a branch that no group takes
kernel void publish(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l] * 2; //~ race-work-items
  if (get_num_groups(0) > 1)
    barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = tile[l ^ 1]; //~^other
}
