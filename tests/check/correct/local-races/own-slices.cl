// run slices global=64 local=16 args=buffer(i32,256,iota),buffer(i32,64)
// note: each work-item has its own four elements of local memory: no barrier is needed
kernel void slices(global const int *in, global int *out) {
  local int memory[64];
  int l = get_local_id(0), i = get_global_id(0);
  local int *mine = memory + 4 * l;
  for (int k = 0; k < 4; k++)
    mine[k] = in[i * 4 + k];
  int sum = 0;
  for (int k = 3; k >= 0; k--)
    sum = sum * 2 + mine[k];
  out[i] = sum;
}
