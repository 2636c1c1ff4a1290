// run scan global=128 local=64 args=buffer(i32,128,ones),buffer(i32,128)
// note: a scan in one array needs a barrier between the read and the write of a step
kernel void scan(global const int *in, global int *out) {
  local int sums[64];
  int l = get_local_id(0), i = get_global_id(0);
  sums[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 64; step *= 2) {
    int left = l >= step ? sums[l - step] : 0; //~ race-work-items
    sums[l] += left; //~^other
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sums[l];
}
