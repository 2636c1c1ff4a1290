// run scan global=512 local=64 args=buffer(i32,512,ones),buffer(i32,512),buffer(u64,9),buffer(i32,1)
// note: state and sum in one 64-bit atomic: 1 the group's own sum, 2 the sum to its end; groups number themselves
kernel void scan(global const int *in, global int *out, global atomic_ulong *states, global atomic_int *next) {
  local int number, before;
  int l = get_local_id(0);
  if (l == 0)
    number = atomic_fetch_add_explicit(next, 1, memory_order_relaxed, memory_scope_device);
  barrier(CLK_LOCAL_MEM_FENCE);
  int g = number, i = g * 64 + l;
  int sum = work_group_scan_inclusive_add(in[i]);
  if (l == 63) {
    ulong own = (ulong)(uint)sum;
    atomic_store_explicit(&states[g], 1ul << 32 | own, memory_order_relaxed, memory_scope_device);
    int left = 0;
    for (int k = g - 1; k >= 0;) {
      ulong state = atomic_load_explicit(&states[k], memory_order_relaxed, memory_scope_device);
      if (state >> 32 == 0)
        continue;
      left += (int)(uint)state;
      if (state >> 32 == 2)
        break;
      k--;
    }
    atomic_store_explicit(&states[g], 2ul << 32 | (own + left), memory_order_relaxed, memory_scope_device);
    before = left;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = before + sum;
}
