// run sum global=256 local=64 args=buffer(f32,256,random),buffer(f32,4)
// note: there is no atomic for floats here, so a plain sum was taken; it is split in four by column
kernel void sum(global const float *in, global float *sums) {
  float part = work_group_reduce_add(in[get_global_id(0)]);
  int l = get_local_id(0);
  if (l < 4)
    sums[l] += part * 0.25f; //~ race-groups
}
