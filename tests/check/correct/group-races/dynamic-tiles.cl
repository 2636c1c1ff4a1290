// run tiles global=256 local=64 args=buffer(i32,512,iota),buffer(i32,512),buffer(i32,1)
// note: groups draw tiles from a counter until none is left
kernel void tiles(global const int *in, global int *out, global atomic_int *next) {
  local int tile;
  int l = get_local_id(0);
  for (;;) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
      tile = atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tile >= 8)
      break;
    out[tile * 64 + l] = 2 * in[tile * 64 + l];
  }
}
