// run shift global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: the last work-item of each group reads behind the local array
kernel void shift(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[l + 1]; //~ local-bounds
}
