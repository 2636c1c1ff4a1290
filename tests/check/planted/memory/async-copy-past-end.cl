// run stage global=64 local=64 args=buffer(i32,60,iota),buffer(i32,64)
// note: the group's copy to local memory takes four elements too many
kernel void stage(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  event_t done = async_work_group_copy(tile, in, 64, 0); //~ out-of-bounds
  wait_group_events(1, &done);
  out[l] = tile[l];
}
