// run reduce global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// strict
// note: eight neighbours sum up in lock-step, without a barrier between the steps
kernel void reduce(global const int *in, global int *out) {
  local volatile int sums[72];
  int l = get_local_id(0);
  sums[l] = in[l];
  if (l < 8)
    sums[64 + l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = sums[l];
  for (int step = 4; step > 0; step /= 2) {
    sum += sums[l + step]; //~ lock-step|race-work-items
    sums[l] = sum; //~^other
  }
  out[l] = sum;
}
