// run rows global=64 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: a variable for all is set anew in each step while others still read the old value
kernel void rows(global const int *in, global int *out) {
  local int base;
  int l = get_local_id(0);
  for (int row = 0; row < 4; row++) {
    if (l == 63)
      base = in[row * 64]; //~ race-work-items
    barrier(CLK_LOCAL_MEM_FENCE);
    out[row * 64 + l] = in[row * 64 + l] - base; //~^other
  }
}
