// run degrees global=64 local=32 args=buffer(i32,64,iota),buffer(i32,64)
// note: compressed rows need n + 1 offsets
kernel void degrees(global const int *offsets, global int *out) {
  int v = get_global_id(0);
  int begin = offsets[v];
  int end = offsets[v + 1]; //~ out-of-bounds
  out[v] = end - begin;
}
