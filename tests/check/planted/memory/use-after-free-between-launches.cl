// run first global=64 local=64 args=buffer(i32,64),freed(i32,64,iota)
// run second global=64 local=64 args=same(0),same(1)
// note: only the second launch touches the freed buffer. May crash without a checker
kernel void first(global int *out, global int *table) {
  out[get_global_id(0)] = 1;
}

kernel void second(global int *out, global int *table) {
  int i = get_global_id(0);
  if (i % 8 == 3)
    out[i] += table[i]; //~ use-after-free
}
