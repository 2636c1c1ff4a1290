// run histogram global=256 local=64 args=buffer(u32,256,random),buffer(i32,16)
// note: atomics in local memory, then atomics in device memory
kernel void histogram(global const uint *in, global int *out) {
  local int bins[16];
  int l = get_local_id(0);
  if (l < 16)
    bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&bins[in[get_global_id(0)] % 16]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16)
    atomic_add(&out[l], bins[l]);
}
