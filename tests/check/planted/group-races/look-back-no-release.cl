// run scan global=256 local=64 args=buffer(i32,256,ones),buffer(i32,4),buffer(i32,4),buffer(i32,4)
// note: a single-pass scan whose state is published with a relaxed store
kernel void scan(global const int *in, global int *sums, global atomic_int *states, global int *out) {
  int g = get_group_id(0);
  int sum = work_group_reduce_add(in[get_global_id(0)]);
  if (get_local_id(0) != 0)
    return;
  int before = 0;
  if (g > 0) {
    int state = 0;
    for (int k = 0; k < 1000000 && state == 0; k++)
      state = atomic_load_explicit(&states[g - 1], memory_order_acquire, memory_scope_device);
    before = sums[g - 1]; //~ race-groups
  }
  sums[g] = before + sum; //~^other
  atomic_store_explicit(&states[g], 1, memory_order_relaxed, memory_scope_device);
  out[g] = before;
}
