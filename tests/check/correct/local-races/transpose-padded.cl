// run transpose global=32x32 local=16x16 args=buffer(f32,1024,random),buffer(f32,1024)
// note: rows of 17 of which the last element is never written and never read
kernel void transpose(global const float *in, global float *out) {
  local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1);
  int left = get_group_id(0) * 16, top = get_group_id(1) * 16;
  tile[y][x] = in[(top + y) * 32 + left + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(left + y) * 32 + top + x] = tile[x][y];
}
