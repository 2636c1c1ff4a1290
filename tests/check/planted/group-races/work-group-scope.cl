// run count global=256 local=64 args=buffer(i32,1)
// strict
// note: an atomic whose scope is the group, used by all groups
kernel void count(global atomic_int *counter) {
  if (get_local_id(0) % 3 == 0)
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_work_group); //~ atomic-scope
}
