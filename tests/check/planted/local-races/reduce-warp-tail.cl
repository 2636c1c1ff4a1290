// run reduce global=256 local=128 args=buffer(i32,256,iota),buffer(i32,2)
// strict
// note: the last steps rely on a warp of 32 in lock-step, as old CUDA code does
kernel void reduce(global const int *in, global int *out) {
  local volatile int sums[128];
  int l = get_local_id(0);
  sums[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 64)
    sums[l] += sums[l + 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 32) {
    sums[l] += sums[l + 32]; //~ race-work-items|lock-step
    sums[l] += sums[l + 16]; //~^other
    sums[l] += sums[l + 8]; //~? race-work-items|lock-step
    sums[l] += sums[l + 4]; //~? race-work-items|lock-step
    sums[l] += sums[l + 2]; //~? race-work-items|lock-step
    sums[l] += sums[l + 1]; //~? race-work-items|lock-step
  }
  if (l == 0)
    out[get_group_id(0)] = sums[0];
}
