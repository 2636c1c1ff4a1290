// run stage global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: all work-items must name the same copy
kernel void stage(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t done = async_work_group_copy(tile, in, 32 + (l & 16), 0); //~ non-uniform-argument
  wait_group_events(1, &done);
  out[l] = tile[l];
}
