// run pairs global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),i32(64)
// note: the index runs out of one local array into the next one
kernel void pairs(global const int *in, global int *out, int apart) {
  local int keys[64];
  local int values[64];
  int l = get_local_id(0);
  keys[l] = in[l];
  values[l] = 2 * in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = keys[apart + 63 - l] + values[63 - l]; //~ local-bounds
}
