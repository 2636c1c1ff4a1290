// run outer global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: two calls of a function with a barrier, by all work-items
__attribute__((noinline)) int exchange(local int *tile, int l, int value) {
  tile[l] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  int other = tile[63 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  return other;
}

kernel void outer(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  int value = exchange(tile, l, in[l]);
  if (l & 1)
    value += 5;
  out[l] = exchange(tile, l, value);
}
