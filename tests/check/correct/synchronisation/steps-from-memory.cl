// run repeat global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128),buffer(i32,2,iota)
// note: the number of steps is loaded, and the same for a whole group
kernel void repeat(global const int *in, global int *out, global const int *steps) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  int n = 3 + steps[get_group_id(0)], value = in[i];
  for (int k = 0; k < n; k++) {
    tile[l] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value += tile[(l + 1) & 63];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = value;
}
