// run histogram global=256 local=64 args=buffer(u32,256,random),buffer(i32,64)
// note: no barrier between counting and reading the counts
kernel void histogram(global const uint *in, global int *out) {
  local int bins[16];
  int l = get_local_id(0);
  if (l < 16)
    bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&bins[in[get_global_id(0)] % 16]); //~ race-work-items|mixed-atomic
  if (l < 16)
    out[get_group_id(0) * 16 + l] = bins[l]; //~^other
}
