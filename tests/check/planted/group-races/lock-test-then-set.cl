// run deposit global=256 local=64 args=buffer(i32,1),buffer(i32,2)
// note: a lock of a load and a store: two groups may both find it open
kernel void deposit(global atomic_int *lock, global int *account) {
  if (get_local_id(0) != 0)
    return;
  int open = 0;
  for (int k = 0; k < 1000000 && !open; k++)
    open = atomic_load_explicit(lock, memory_order_relaxed, memory_scope_device) == 0;
  if (open) {
    atomic_store_explicit(lock, 1, memory_order_relaxed, memory_scope_device);
    account[0] += 10; //~ race-groups
    atomic_store_explicit(lock, 0, memory_order_relaxed, memory_scope_device);
  }
}
