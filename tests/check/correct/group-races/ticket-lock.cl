// run deposit global=256 local=64 args=buffer(i32,2),buffer(i32,2)
// note: a ticket lock: a group waits for earlier tickets only, whose groups already run
kernel void deposit(global atomic_int *tickets, global int *account) {
  if (get_local_id(0) != 0)
    return;
  int mine = atomic_fetch_add_explicit(&tickets[0], 1, memory_order_relaxed, memory_scope_device);
  while (atomic_load_explicit(&tickets[1], memory_order_acquire, memory_scope_device) != mine) {
  }
  account[0] = account[0] * 2 + 1;
  atomic_store_explicit(&tickets[1], mine + 1, memory_order_release, memory_scope_device);
}
