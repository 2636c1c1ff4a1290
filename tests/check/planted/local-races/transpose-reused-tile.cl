// run transpose global=16x16 local=16x16 args=buffer(f32,512,random),buffer(f32,512)
// note: the second tile overwrites the first while others still read it
kernel void transpose(global const float *in, global float *out) {
  local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1);
  for (int part = 0; part < 2; part++) {
    tile[y][x] = in[part * 256 + y * 16 + x]; //~ race-work-items
    barrier(CLK_LOCAL_MEM_FENCE);
    out[part * 256 + y * 16 + x] = tile[x][y]; //~^other
  }
}
