// run reduce global=256 local=64 args=buffer(i32,256,iota),buffer(i32,4)
// note: no barrier between the stores to local memory and the first step of the reduction
kernel void reduce(global const int *in, global int *out) {
  local int sums[64];
  int l = get_local_id(0);
  sums[l] = in[get_global_id(0)]; //~ race-work-items
  for (int step = 32; step > 0; step /= 2) {
    if (l < step)
      sums[l] += sums[l + step]; //~^other
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0)
    out[get_group_id(0)] = sums[0];
}
