// run largest global=256 local=64 args=buffer(i32,256,random),buffer(i32,4),buffer(i32,2)
// note: the same with one counter of acquire and release, which the last group resets for the next launch
kernel void largest(global const int *in, global int *parts, global atomic_int *done) {
  int best = work_group_reduce_max(in[get_global_id(0)]);
  if (get_local_id(0) != 0)
    return;
  parts[get_group_id(0)] = best;
  int groups = get_num_groups(0);
  if (atomic_fetch_add_explicit(done, 1, memory_order_acq_rel, memory_scope_device) == groups - 1) {
    for (int k = 0; k < groups; k++)
      best = max(best, parts[k]);
    parts[0] = best;
    atomic_store_explicit(done, 0, memory_order_relaxed, memory_scope_device);
  }
}
