// run work global=128 local=64 args=buffer(i32,130),buffer(i32,1),buffer(i32,2)
// note: an item is read as soon as the tail was moved, before it is written
kernel void work(global int *list, global atomic_int *tail, global int *out) {
  if (get_local_id(0) != 0)
    return;
  int g = get_group_id(0);
  int slot = atomic_fetch_add_explicit(tail, 1, memory_order_acq_rel, memory_scope_device);
  list[slot] = g + 1; //~ race-groups
  int other = 1 - slot;
  if (other >= 0)
    out[slot] = list[other]; //~^other
}
