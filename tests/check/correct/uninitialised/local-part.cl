// run stage global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: a local array larger than what is used of it
kernel void stage(global const int *in, global int *out) {
  local int tile[4][32];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l / 16][l % 16] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[3 - l / 16][15 - l % 16];
}
