// run update global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: write after read: the values are exchanged in place
kernel void update(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  int value = tile[63 - l]; //~ race-work-items
  tile[l] = value + 1; //~^other
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = tile[l];
}
