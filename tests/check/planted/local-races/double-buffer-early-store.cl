// run pipeline global=64 local=64 args=buffer(i32,512,iota),buffer(i32,64)
// note: the next tile goes into the buffer that is in use: the index was not switched
kernel void pipeline(global const int *in, global int *out) {
  local int tiles[2][64];
  int l = get_local_id(0), sum = 0;
  tiles[0][l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = 0; t < 7; t++) {
    int now = t / 2 % 2;
    sum += tiles[now][(l + 1) % 64]; //~ race-work-items
    tiles[(t + 1) / 2 % 2][l] = in[(t + 1) * 64 + l]; //~^other
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[l] = sum;
}
