// run rounds global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// allow: same-value
// note: the flag is cleared for the next round while others still read it
kernel void rounds(global const int *in, global int *out) {
  local int more;
  int l = get_local_id(0), value = in[l] % 5, count = 0;
  for (int k = 0; k < 8; k++) {
    if (l == 0)
      more = 0; //~ race-work-items
    barrier(CLK_LOCAL_MEM_FENCE);
    if (value > k)
      more = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    count += more; //~^other
  }
  out[l] = count;
}
