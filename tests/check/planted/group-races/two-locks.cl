// run deposit global=256 local=64 args=buffer(i32,2),buffer(i32,1)
// note: even and odd groups take different locks for one account
kernel void deposit(global atomic_int *locks, global int *account) {
  if (get_local_id(0) != 0)
    return;
  global atomic_int *lock = &locks[get_group_id(0) % 2];
  int got = 0;
  for (int k = 0; k < 1000000 && !got; k++) {
    int open = 0;
    got = atomic_compare_exchange_strong_explicit(lock, &open, 1, memory_order_acquire, memory_order_relaxed,
                                                  memory_scope_device);
  }
  if (got) {
    account[0] += 5; //~ race-groups
    atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
  }
}
