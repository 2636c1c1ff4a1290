// run scan global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),buffer(i32,4),buffer(i32,4)
// note: a single-pass scan: a group waits only for the group before it, by acquire and release
kernel void scan(global const int *in, global int *out, global int *sums, global atomic_int *states) {
  local int before;
  int l = get_local_id(0), i = get_global_id(0), g = get_group_id(0);
  int sum = work_group_scan_inclusive_add(in[i]);
  if (l == 63) {
    int left = 0;
    if (g > 0) {
      while (atomic_load_explicit(&states[g - 1], memory_order_acquire, memory_scope_device) == 0) {
      }
      left = sums[g - 1];
    }
    sums[g] = left + sum;
    atomic_store_explicit(&states[g], 1, memory_order_release, memory_scope_device);
    before = left;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = before + sum;
}
