// run mixed global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: one function takes pointers into device, local and private memory
int last_of(const int *values, int n) {
  return values[n - 1];
}

kernel void mixed(global const int *in, global int *out) {
  local int tile[64];
  int mine[4];
  int l = get_local_id(0);
  tile[l] = in[l] * 2;
  for (int k = 0; k < 4; k++)
    mine[k] = l + k;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = last_of(in, 64) + last_of(tile, 64) + last_of(mine, 1 + (l & 3));
}
