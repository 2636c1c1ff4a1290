// run columns global=64 local=16 args=buffer(i32,256,iota),buffer(i32,64)
// note: the slices lie interleaved, to avoid bank conflicts
kernel void columns(global const int *in, global int *out) {
  local int memory[64];
  int l = get_local_id(0), i = get_global_id(0);
  for (int k = 0; k < 4; k++)
    memory[k * 16 + l] = in[i * 4 + k];
  int best = memory[l];
  for (int k = 1; k < 4; k++)
    best = max(best, memory[k * 16 + l]);
  out[i] = best;
}
