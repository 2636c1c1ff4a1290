// run relax global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a vote of the group ends the loop for all at once
kernel void relax(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0), value = in[l] % 9, rounds = 0;
  while (work_group_any(value > 0)) {
    tile[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = min(value, tile[(l + 1) & 63]) - 1;
    rounds++;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[l] = rounds;
}
