// run transfer global=128 local=64 args=buffer(i32,1),buffer(i32,1),buffer(i32,2)
// note: writers take the lock, and the reader does not
kernel void transfer(global atomic_int *lock, global int *balance, global int *out) {
  if (get_local_id(0) != 0)
    return;
  if (get_group_id(0) == 1) {
    out[1] = balance[0]; //~ race-groups
    return;
  }
  int open = 0;
  if (atomic_compare_exchange_strong_explicit(lock, &open, 1, memory_order_acquire, memory_order_relaxed,
                                              memory_scope_device)) {
    balance[0] = 7; //~^other
    atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
  }
}
