// run pass global=128 local=64 args=buffer(i32,1),buffer(i32,1),buffer(i32,1)
// strict
// note: atomics without an order are sequentially consistent
kernel void pass(global int *data, global atomic_int *flag, global int *out) {
  if (get_local_id(0) != 0)
    return;
  if (get_group_id(0) == 0) {
    data[0] = 42;
    atomic_store(flag, 1);
  } else {
    while (atomic_load(flag) == 0) {
    }
    out[0] = data[0];
  }
}
