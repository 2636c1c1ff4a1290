// run half_waits global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: half of the group waits at a barrier that the other half never reaches
kernel void half_waits(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  if (l < 32) {
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    out[l] = tile[31 - l];
  }
}
