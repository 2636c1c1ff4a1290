// run count global=128 local=64 args=buffer(i32,4)
// run parallel look global=4 local=4 args=same(0),buffer(i32,4)
// note: one launch counts with atomics, the other reads the counts without
kernel void count(global int *bins) {
  atomic_inc(&bins[get_global_id(0) % 4]); //~ race-commands|mixed-atomic
}

kernel void look(global const int *bins, global int *out) {
  int i = get_global_id(0);
  out[i] = bins[i]; //~^other
}
