// run outer global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the barrier is in a function that only some work-items call
__attribute__((noinline)) void exchange(local int *tile, int l) {
  tile[l] += 1;
  barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
}

kernel void outer(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l];
  if (l % 4 != 0)
    exchange(tile, l); //~^other
  out[l] = tile[l];
}
