// run pass global=128 local=64 args=buffer(i32,64),buffer(i32,1),buffer(i32,64)
// note: all of a group's data is announced by one work-item, behind a barrier, with release
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  int l = get_local_id(0);
  if (get_group_id(0) == 0) {
    data[l] = l * l;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (l == 0)
      atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else {
    if (l == 0)
      while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 0) {
      }
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[l] = data[63 - l];
  }
}
