// run reduce global=128 local=64 args=buffer(i32,128,iota),buffer(i32,2)
// note: a tree of fours with its barriers before and behind the loop instead of in it
kernel void reduce(global const int *in, global int *out) {
  local int sums[64];
  int l = get_local_id(0);
  sums[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 64; step *= 4) {
    int sum = 0;
    if (l % (4 * step) == 0) {
      for (int k = 0; k < 4; k++)
        sum += sums[l + k * step]; //~ race-work-items
      sums[l] = sum; //~^other
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0)
    out[get_group_id(0)] = sums[0];
}
