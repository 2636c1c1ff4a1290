// run scan global=128 local=64 args=buffer(i32,128,ones),buffer(i32,128)
// note: two buffers in turn need one barrier a step
kernel void scan(global const int *in, global int *out) {
  local int sums[2][64];
  int l = get_local_id(0), i = get_global_id(0), now = 0;
  sums[0][l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 64; step *= 2) {
    int left = l >= step ? sums[now][l - step] : 0;
    sums[1 - now][l] = sums[now][l] + left;
    now = 1 - now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sums[now][l];
}
