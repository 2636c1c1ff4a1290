// run choose global=64 local=64 args=buffer(i32,64,scratch),buffer(i32,64)
// note: a value that nobody wrote is read and not used: it decides nothing
kernel void choose(volatile global const int *table, global int *out) {
  int i = get_global_id(0);
  int value = table[i];
  out[i] = (value & 0) + i;
}
