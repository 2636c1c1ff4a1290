// run relax global=64 local=16 args=buffer(u32,64,1000),buffer(u32,64,random),buffer(i32,1)
// note: distances are read and lowered with atomics
kernel void relax(global atomic_uint *distance, global const uint *weight, global atomic_int *changed) {
  uint v = get_global_id(0), to = (v * 5) % 16, length = weight[v] % 100;
  if (length < atomic_load_explicit(&distance[to], memory_order_relaxed, memory_scope_device)) {
    atomic_fetch_min_explicit(&distance[to], length, memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(changed, 1, memory_order_relaxed, memory_scope_device);
  }
}
