// run histogram global=128 local=64 args=buffer(u32,128,random),buffer(i32,32)
// note: local memory is not zero at the beginning
kernel void histogram(global const uint *in, global int *out) {
  local int bins[16];
  int l = get_local_id(0);
  atomic_inc(&bins[in[get_global_id(0)] % 16]); //~ uninitialised-value
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16)
    out[get_group_id(0) * 16 + l] = bins[l]; //~^other
}
