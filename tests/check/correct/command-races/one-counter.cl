// run count global=256 local=64 args=buffer(i32,1)
// run parallel count global=256 local=64 args=same(0)
// note: two launches count with atomics
kernel void count(global atomic_int *counter) {
  if (get_global_id(0) % 3 == 0)
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_device);
}
