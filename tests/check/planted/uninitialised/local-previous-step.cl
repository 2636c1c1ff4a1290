// run steps global=64 local=64 args=buffer(i32,256,iota),buffer(i32,64)
// note: the first step looks at the previous step's buffer
kernel void steps(global const int *in, global int *out) {
  local int rows[2][64];
  int l = get_local_id(0), sum = 0;
  for (int k = 0; k < 4; k++) {
    rows[k % 2][l] = in[k * 64 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += rows[(k + 1) % 2][63 - l]; //~ uninitialised-value
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[l] = sum; //~^other
}
