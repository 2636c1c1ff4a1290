// run stage global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: no barrier between the stores to the tile and the group's copy over them
kernel void stage(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = 0; //~ race-work-items
  event_t done = async_work_group_copy(tile, in, 64, 0); //~^other
  wait_group_events(1, &done);
  out[l] = tile[l];
}
