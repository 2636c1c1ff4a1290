// run pass global=192 local=64 args=buffer(i32,1),buffer(i32,2),buffer(i32,1)
// note: the third group learns of the first one's data through the second
kernel void pass(global int *data, global atomic_int *flags, global int *out) {
  int g = get_group_id(0);
  if (get_local_id(0) != 0)
    return;
  if (g == 0)
    data[0] = 42;
  else
    while (atomic_load_explicit(&flags[g - 1], memory_order_acquire, memory_scope_device) == 0) {
    }
  if (g < 2)
    atomic_store_explicit(&flags[g], 1, memory_order_release, memory_scope_device);
  else
    out[0] = data[0];
}
