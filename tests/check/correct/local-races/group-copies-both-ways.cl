// run stage global=128 local=64 args=buffer(i32,256,iota),buffer(i32,128)
// note: several copies into two tiles before one wait, and a barrier before the copy back
kernel void stage(global const int *in, global int *out) {
  local int tiles[2][64];
  int l = get_local_id(0), g = get_group_id(0);
  event_t done = 0;
  for (int t = 0; t < 2; t++)
    done = async_work_group_copy(tiles[t], in + 128 * g + 64 * t, 64, done);
  wait_group_events(1, &done);
  int sum = tiles[0][l] + tiles[1][63 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  tiles[0][l] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  done = async_work_group_copy(out + 64 * g, tiles[0], 64, 0);
  wait_group_events(1, &done);
  tiles[0][l] = 0;
}
