// run stage global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the tile is written while the group's copy into it may still run
kernel void stage(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  event_t done = async_work_group_copy(tile, in, 64, 0); //~ race-work-items
  tile[l] = 0; //~^other
  wait_group_events(1, &done);
  out[l] = tile[l];
}
