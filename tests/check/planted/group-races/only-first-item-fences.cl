// run pass global=128 local=64 args=buffer(i32,64),buffer(i32,1),buffer(i32,64)
// note: all work-items write data, and the first one announces it without waiting for the rest of its group
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  local int ready[1];
  int l = get_local_id(0);
  if (get_group_id(0) == 0) {
    data[l] = l; //~ race-groups
    if (l == 0)
      atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else {
    if (l == 0) {
      int seen = 0;
      for (int k = 0; k < 1000000 && !seen; k++)
        seen = atomic_load_explicit(flag, memory_order_acquire, memory_scope_device);
      ready[0] = seen;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (ready[0])
      out[l] = data[63 - l]; //~^other
  }
}
