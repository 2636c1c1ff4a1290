// run pipeline global=64 local=64 args=buffer(i32,512,iota),buffer(i32,64)
// note: two buffers need one barrier a step, and there is none in the loop
kernel void pipeline(global const int *in, global int *out) {
  local int tiles[2][64];
  int l = get_local_id(0), sum = 0;
  tiles[0][l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = 0; t < 7; t++) {
    tiles[(t + 1) % 2][l] = in[(t + 1) * 64 + l]; //~ race-work-items
    sum += tiles[t % 2][63 - l]; //~^other
  }
  out[l] = sum;
}
