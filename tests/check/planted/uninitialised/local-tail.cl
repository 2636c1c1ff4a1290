// run stage global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: three quarters of the tile are filled, and all of it is read
kernel void stage(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  if (l < 48)
    tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[63 - l]; //~ uninitialised-value
}
