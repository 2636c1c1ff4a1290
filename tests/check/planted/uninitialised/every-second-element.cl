// run first global=32 local=32 args=buffer(i16,64,scratch)
// run second global=64 local=64 args=same(0),buffer(i32,64)
// note: shorts: every second one was written
kernel void first(global short *table) {
  int i = get_global_id(0);
  table[2 * i] = (short)i;
}

kernel void second(global const short *table, global int *out) {
  int i = get_global_id(0);
  out[i] = table[i] * 7; //~ uninitialised-value
}
