// run pipeline global=64 local=64 args=buffer(i32,512,iota),buffer(i32,64)
// note: with two buffers one barrier a step is enough
kernel void pipeline(global const int *in, global int *out) {
  local int tiles[2][64];
  int l = get_local_id(0), sum = 0;
  tiles[0][l] = in[l];
  for (int t = 0; t < 7; t++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    tiles[(t + 1) % 2][l] = in[(t + 1) * 64 + l];
    sum += tiles[t % 2][63 - l];
  }
  out[l] = sum;
}
