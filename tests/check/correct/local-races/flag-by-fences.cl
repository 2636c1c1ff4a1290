// run pass global=64 local=64 args=buffer(i32,1),buffer(i32,64)
// strict
// note: relaxed atomics between fences whose scope is the group
kernel void pass(global const int *in, global int *out) {
  local int data[1];
  local atomic_int flag;
  int l = get_local_id(0);
  if (l == 0)
    atomic_init(&flag, 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) {
    data[0] = in[0] + 42;
    atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
    atomic_store_explicit(&flag, 1, memory_order_relaxed, memory_scope_work_group);
  }
  int seen = l != 0 && atomic_load_explicit(&flag, memory_order_relaxed, memory_scope_work_group);
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
  if (seen)
    out[l] = data[0];
}
