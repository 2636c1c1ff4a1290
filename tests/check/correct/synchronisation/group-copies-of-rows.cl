// run stage global=128 local=64 args=buffer(i32,512,iota),buffer(i32,128)
// note: each group copies other rows, as many as it needs, and every second element of the last one
kernel void stage(global const int *in, global int *out) {
  local int tile[256];
  int l = get_local_id(0), g = get_group_id(0);
  event_t done = 0;
  for (int row = 0; row <= g; row++)
    done = async_work_group_copy(tile + 64 * row, in + 128 * row, 32 + 16 * g, done);
  done = async_work_group_strided_copy(tile + 192, in + 256, 64, 2, done);
  wait_group_events(1, &done);
  out[64 * g + l] = tile[l % 32] + tile[192 + l];
}
