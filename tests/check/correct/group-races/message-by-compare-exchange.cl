// run pass global=128 local=64 args=buffer(i32,1),buffer(i32,1),buffer(i32,1)
// strict
// note: success releases and acquires; a failure is relaxed, and nothing is read after it
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  if (get_local_id(0) != 0)
    return;
  int expected = get_group_id(0);
  if (expected == 0)
    data[0] = 42;
  while (!atomic_compare_exchange_strong_explicit(flag, &expected, get_group_id(0) + 1, memory_order_acq_rel,
                                                  memory_order_relaxed, memory_scope_device))
    expected = get_group_id(0);
  if (expected == 1)
    out[0] = data[0];
}
