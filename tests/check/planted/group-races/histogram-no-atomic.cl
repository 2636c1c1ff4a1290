// run histogram global=256 local=64 args=buffer(u32,256,random),buffer(i32,8)
// note: the groups' histograms are merged without an atomic
kernel void histogram(global const uint *in, global int *bins) {
  local int mine[8];
  int l = get_local_id(0);
  if (l < 8)
    mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[in[get_global_id(0)] % 8]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 8)
    bins[l] += mine[l]; //~ race-groups
}
