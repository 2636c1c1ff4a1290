// run announce global=128 local=64 args=buffer(i32,1),buffer(i32,2)
// strict
// note: both groups store with the scope of a group
kernel void announce(global atomic_int *best, global int *out) {
  if (get_local_id(0) == 0) {
    int g = get_group_id(0);
    atomic_store_explicit(best, g, memory_order_relaxed, memory_scope_work_group); //~ atomic-scope
    out[g] = atomic_load_explicit(best, memory_order_relaxed, memory_scope_device); //~? atomic-scope
  }
}
