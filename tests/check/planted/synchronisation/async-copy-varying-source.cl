// run stage global=64 local=64 args=buffer(i32,128,iota),buffer(i32,64)
// note: each half of the group names another source
kernel void stage(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  event_t done = async_work_group_copy(tile, in + 64 * (l >= 32), 64, 0); //~ non-uniform-argument
  wait_group_events(1, &done);
  out[l] = tile[l];
}
