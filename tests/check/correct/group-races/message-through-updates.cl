// run pass global=192 local=64 args=buffer(i32,1),buffer(i32,1),buffer(i32,1)
// strict
// note: a relaxed update keeps what the store before it has released
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  int g = get_group_id(0);
  if (get_local_id(0) != 0)
    return;
  if (g == 0) {
    data[0] = 42;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else if (g == 1) {
    while (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device) == 0) {
    }
    atomic_fetch_add_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
  } else {
    while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) < 2) {
    }
    out[0] = data[0];
  }
}
