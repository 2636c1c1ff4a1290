// run minmax global=64 local=64 args=buffer(i32,64,random),buffer(i32,64),null
// note: one of two results was not asked for. Solum alone drops writes through a null argument
kernel void minmax(global const int *in, global int *low, global int *high) {
  int i = get_global_id(0);
  int value = in[i];
  low[i] = min(value, 0);
  high[i] = max(value, 0); //~ null-pointer
}
