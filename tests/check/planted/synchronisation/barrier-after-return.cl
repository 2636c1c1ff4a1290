// run guarded global=128 local=64 args=buffer(i32,100,iota),buffer(i32,100),i32(100)
// note: the work-items behind the end return before the barrier
kernel void guarded(global const int *in, global int *out, int n) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  if (i >= n)
    return;
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
  out[i] = tile[l] + 1;
}
