// run stage global=64 local=32 args=buffer(i32,64,iota),buffer(i32,64)
// note: copies by the group to local memory and back
kernel void stage(global const int *in, global int *out) {
  local int tile[32];
  int l = get_local_id(0), first = get_group_id(0) * 32;
  event_t done = async_work_group_copy(tile, in + first, 32, 0);
  wait_group_events(1, &done);
  tile[l] += 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  done = async_work_group_copy(out + first, tile, 32, 0);
  wait_group_events(1, &done);
}
