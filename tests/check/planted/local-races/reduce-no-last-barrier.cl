// run reduce global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: the barrier stands before each step, so none follows the last one
kernel void reduce(global const int *in, global int *out) {
  local int sums[64];
  int l = get_local_id(0), i = get_global_id(0);
  sums[l] = in[i];
  for (int step = 32; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < step)
      sums[l] += sums[l + step]; //~ race-work-items
  }
  out[i] = in[i] - sums[0]; //~^other
}
