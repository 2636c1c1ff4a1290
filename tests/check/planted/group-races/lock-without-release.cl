// run deposit global=256 local=64 args=buffer(i32,1),buffer(i32,2)
// note: a lock that is given back with a relaxed store
kernel void deposit(global atomic_int *lock, global int *account) {
  if (get_local_id(0) != 0)
    return;
  int got = 0;
  for (int k = 0; k < 1000000 && !got; k++) {
    int open = 0;
    got = atomic_compare_exchange_strong_explicit(lock, &open, 1, memory_order_acquire, memory_order_relaxed,
                                                  memory_scope_device);
  }
  if (got) {
    account[0] += 10; //~ race-groups
    atomic_store_explicit(lock, 0, memory_order_relaxed, memory_scope_device);
  }
}
