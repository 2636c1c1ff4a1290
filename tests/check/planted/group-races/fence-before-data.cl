// run pass global=128 local=64 args=buffer(i32,1),buffer(i32,1),buffer(i32,2)
// note: the fence stands before the data instead of behind it
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  if (get_local_id(0) != 0)
    return;
  if (get_group_id(0) == 0) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    data[0] = 42; //~ race-groups
    atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
  } else {
    int seen = 0;
    for (int k = 0; k < 1000000 && !seen; k++)
      seen = atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
    if (seen)
      out[1] = data[0]; //~^other
  }
}
