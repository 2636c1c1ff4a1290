// run push global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),buffer(i32,1,-1)
// note: a lock-free stack that only grows: the node is written before the head is exchanged
kernel void push(global const int *in, global int *next, global atomic_int *head) {
  int i = get_global_id(0);
  if (in[i] % 7 != 0)
    return;
  int old = atomic_load_explicit(head, memory_order_relaxed, memory_scope_device);
  do
    next[i] = old;
  while (!atomic_compare_exchange_weak_explicit(head, &old, i, memory_order_release, memory_order_relaxed,
                                                memory_scope_device));
}
