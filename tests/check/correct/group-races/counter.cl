// run count global=256 local=64 args=buffer(i32,256,iota),buffer(i32,1)
// note: an atomic counter for all groups
kernel void count(global const int *in, global atomic_int *counter) {
  if (in[get_global_id(0)] % 5 == 0)
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_device);
}
