// run deposit global=256 local=64 args=buffer(i32,1),buffer(i32,2)
// note: OpenCL 1.2: atomics without orders, with fences inside the lock
kernel void deposit(volatile global int *lock, volatile global int *account) {
  if (get_local_id(0) != 0)
    return;
  while (atomic_cmpxchg(lock, 0, 1) != 0) {
  }
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
  account[0] += 10;
  account[1] += 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
  atomic_xchg(lock, 0);
}
