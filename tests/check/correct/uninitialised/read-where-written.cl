// run first global=32 local=32 args=buffer(i32,64,scratch)
// run second global=64 local=64 args=same(0),buffer(i32,64)
// note: half of a buffer is written, and that half is read
kernel void first(global int *table) {
  int i = get_global_id(0);
  table[2 * i] = i * i;
}

kernel void second(global const int *table, global int *out) {
  int i = get_global_id(0);
  out[i] = table[i & ~1] + 1;
}
