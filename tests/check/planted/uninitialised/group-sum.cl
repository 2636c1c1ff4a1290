// run sum global=128 local=64 args=buffer(i32,100,iota),buffer(i32,2),i32(100)
// note: the work-items behind the end put nothing into the tile, and the sum takes all of it
kernel void sum(global const int *in, global int *out, int n) {
  local int tile[64];
  int l = get_local_id(0), i = get_global_id(0);
  if (i < n)
    tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    int sum = 0;
    for (int k = 0; k < 64; k++)
      sum += tile[k]; //~ uninitialised-value
    out[get_group_id(0)] = sum; //~^other
  }
}
