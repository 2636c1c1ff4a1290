// run transpose global=16x16 local=16x16 args=buffer(f32,256,random),buffer(f32,256),i32(17)
// note: the index is made for padded rows of 17, and the tile has rows of 16
kernel void transpose(global const float *in, global float *out, int pitch) {
  local float tile[16 * 16];
  int x = get_local_id(0), y = get_local_id(1);
  tile[y * pitch + x] = in[y * 16 + x]; //~ local-bounds
  barrier(CLK_LOCAL_MEM_FENCE);
  out[y * 16 + x] = tile[x * pitch + y]; //~? local-bounds
}
