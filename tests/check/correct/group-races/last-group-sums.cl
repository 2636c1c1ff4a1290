// run sum global=512 local=64 args=buffer(i32,512,iota),buffer(i32,8),buffer(i32,1),buffer(i32,1)
// note: the pattern of threadfence: fences around a relaxed counter order the parts before their sum
kernel void sum(global const int *in, global int *parts, global atomic_int *done, global int *total) {
  local int last;
  int l = get_local_id(0), groups = get_num_groups(0);
  int part = work_group_reduce_add(in[get_global_id(0)]);
  if (l == 0) {
    parts[get_group_id(0)] = part;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    int before = atomic_fetch_add_explicit(done, 1, memory_order_relaxed, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
    last = before == groups - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (last) {
    int sum = work_group_reduce_add(l < groups ? parts[l] : 0);
    if (l == 0)
      total[0] = sum;
  }
}
