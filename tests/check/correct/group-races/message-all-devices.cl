// run pass global=128 local=64 args=shared(i32,1),shared(i32,1),buffer(i32,1)
// strict
// note: the widest scope, in memory that the host shares
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  if (get_local_id(0) != 0)
    return;
  if (get_group_id(0) == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_all_svm_devices);
  } else {
    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 0) {
    }
    out[0] = data[0];
  }
}
