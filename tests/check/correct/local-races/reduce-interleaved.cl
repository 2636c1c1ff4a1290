// run reduce global=192 local=48 args=buffer(f32,192,random),buffer(f32,4)
// note: interleaved addressing, in a group whose size is no power of two
kernel void reduce(global const float *in, global float *out) {
  local float sums[48];
  int l = get_local_id(0);
  sums[l] = in[get_global_id(0)];
  for (int step = 1; step < 48; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l % (2 * step) == 0 && l + step < 48)
      sums[l] += sums[l + step];
  }
  if (l == 0)
    out[get_group_id(0)] = sums[0];
}
