// run first global=32 local=32 args=buffer(i32,64,scratch)
// run second global=64 local=64 args=same(0),buffer(i32,64)
// note: the first launch writes half of what the second reads
kernel void first(global int *table) {
  int i = get_global_id(0);
  table[i] = i * i;
}

kernel void second(global const int *table, global int *out) {
  int i = get_global_id(0);
  out[i] = table[i] + 1; //~ uninitialised-value
}
