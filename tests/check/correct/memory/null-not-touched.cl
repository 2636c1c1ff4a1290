// run minmax global=64 local=64 args=buffer(i32,64,random),buffer(i32,64),null
// note: an optional result that was not asked for is tested first
kernel void minmax(global const int *in, global int *low, global int *high) {
  int i = get_global_id(0);
  low[i] = min(in[i], 0);
  if (high)
    high[i] = max(in[i], 0);
}
