// run hook global=64 local=16 args=buffer(i32,64,iota)
// note: labels are read and lowered with atomics
kernel void hook(global atomic_int *labels) {
  int v = get_global_id(0), other = (v * 11 + 16) % 64;
  int label = atomic_load_explicit(&labels[other], memory_order_relaxed, memory_scope_device);
  atomic_fetch_min_explicit(&labels[v], label, memory_order_relaxed, memory_scope_device);
}
