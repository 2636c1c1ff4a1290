// run sum global=256 local=64 args=buffer(f32,256,random),buffer(u32,1)
// note: a sum of floats with compare-and-exchange; the first look at the old value is atomic too
kernel void sum(global const float *in, global atomic_uint *total) {
  float part = work_group_reduce_add(in[get_global_id(0)]);
  if (get_local_id(0) != 0)
    return;
  uint old = atomic_load_explicit(total, memory_order_relaxed, memory_scope_device);
  while (!atomic_compare_exchange_weak_explicit(total, &old, as_uint(as_float(old) + part), memory_order_relaxed,
                                                memory_order_relaxed, memory_scope_device)) {
  }
}
