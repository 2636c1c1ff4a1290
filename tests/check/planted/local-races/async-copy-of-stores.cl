// run flush global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: no barrier between the stores to the tile and the group's copy of it
kernel void flush(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[get_global_id(0)]; //~ race-work-items
  event_t done = async_work_group_copy(out + 64 * get_group_id(0), tile, 64, 0); //~^other
  wait_group_events(1, &done);
}
