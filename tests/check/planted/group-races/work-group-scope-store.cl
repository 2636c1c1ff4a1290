// run announce global=128 local=64 args=buffer(i32,1),buffer(i32,1)
// strict
// note: the store's scope is the group, the load's the device
kernel void announce(global atomic_int *best, global int *out) {
  if (get_local_id(0) == 0) {
    if (get_group_id(0) == 0)
      atomic_store_explicit(best, 7, memory_order_relaxed, memory_scope_work_group); //~ atomic-scope
    else
      out[0] = atomic_load_explicit(best, memory_order_relaxed, memory_scope_device); //~^other
  }
}
