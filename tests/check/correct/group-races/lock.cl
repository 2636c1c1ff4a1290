// run deposit global=256 local=64 args=buffer(i32,1),buffer(i32,2)
// note: a lock by compare-and-exchange around plain accesses; one work-item of each group takes it
kernel void deposit(global atomic_int *lock, global int *account) {
  if (get_local_id(0) != 0)
    return;
  int open;
  do
    open = 0;
  while (!atomic_compare_exchange_strong_explicit(lock, &open, 1, memory_order_acquire, memory_order_relaxed,
                                                  memory_scope_device));
  account[0] += 10;
  account[1] += 1;
  atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
}
