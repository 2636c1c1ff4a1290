// run sum global=1024 local=64 args=buffer(i32,16384,iota),buffer(i32,16)
// note: each group sums 16 tiles of numbers, each by a tree in local memory
kernel void sum(global const int *in, global int *sums) {
  local int tile[64];
  int l = get_local_id(0), group = get_group_id(0);
  for (int n = 0; n < 16; n++) {
    tile[l] = in[(group * 16 + n) * 64 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 32; step > 1; step /= 2) {
      if (l < step)
        tile[l] += tile[l + step];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
      sums[group] += tile[0] + tile[1];
  }
}
