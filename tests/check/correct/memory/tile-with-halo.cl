// run blur global=16x16 local=8x8 args=buffer(f32,256,random),buffer(f32,256)
// note: halo exchange: a tile of 10 x 10 is filled by 64 work-items in two rounds
kernel void blur(global const float *in, global float *out) {
  local float tile[100];
  int x = get_local_id(0), y = get_local_id(1), l = y * 8 + x;
  int left = get_group_id(0) * 8 - 1, top = get_group_id(1) * 8 - 1;
  for (int k = l; k < 100; k += 64) {
    int gx = left + k % 10, gy = top + k / 10;
    bool inside = gx >= 0 && gx < 16 && gy >= 0 && gy < 16;
    tile[k] = inside ? in[gy * 16 + gx] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  local float *here = tile + (y + 1) * 10 + x + 1;
  out[get_global_id(1) * 16 + get_global_id(0)] = 0.2f * (here[-10] + here[-1] + here[0] + here[1] + here[10]);
}
