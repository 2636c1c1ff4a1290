// run scan global=64 local=64 args=buffer(i32,64,ones),buffer(i32,64)
// note: two buffers in turn, but no barrier between the steps
kernel void scan(global const int *in, global int *out) {
  local int sums[2][64];
  int l = get_local_id(0), now = 0;
  sums[0][l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < 64; step *= 2) {
    int left = l >= step ? sums[now][l - step] : 0; //~ race-work-items
    sums[1 - now][l] = sums[now][l] + left; //~^other
    now = 1 - now;
  }
  out[l] = sums[now][l];
}
