// run permute global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),i32(3)
// note: an order in private memory, of which the last entry is missing, is used as an index
kernel void permute(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  int order[4];
  for (int k = 0; k < n; k++)
    order[(k + i) & 3] = k * 16;
  out[i] = in[order[(i + 3) & 3] & 63]; //~ uninitialised-value
}
