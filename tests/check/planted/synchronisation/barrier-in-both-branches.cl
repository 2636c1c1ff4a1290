// run branches global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: two barriers, one in each branch, are not one
kernel void branches(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  if (in[l] % 2 == 0) {
    tile[l] = in[l];
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    out[l] = tile[l] + 1;
  } else {
    tile[l] = -in[l];
    barrier(CLK_LOCAL_MEM_FENCE); //~^other
    out[l] = tile[l] * 2;
  }
}
