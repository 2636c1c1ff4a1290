// run turn global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: the barrier stands before the store instead of behind it
kernel void turn(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  int value = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[l] = value; //~ race-work-items
  out[i] = tile[(l + 5) % 64]; //~^other
}
