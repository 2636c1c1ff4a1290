// run scan global=256 local=64 args=buffer(i32,256,ones),buffer(i32,4),buffer(i32,4),buffer(i32,4)
// note: the look-back waits for the group before, and reads the sum of the group before that one without its state
kernel void scan(global const int *in, global int *sums, global atomic_int *states, global int *out) {
  int g = get_group_id(0);
  int sum = work_group_reduce_add(in[get_global_id(0)]);
  if (get_local_id(0) != 0)
    return;
  sums[g] = sum; //~ race-groups
  atomic_store_explicit(&states[g], 1, memory_order_release, memory_scope_device);
  int before = 0;
  if (g > 1) {
    int state = 0;
    for (int k = 0; k < 1000000 && state == 0; k++)
      state = atomic_load_explicit(&states[g - 1], memory_order_acquire, memory_scope_device);
    before = sums[g - 1] + sums[g - 2]; //~^other
  }
  out[g] = before;
}
