// run stencil global=128 local=64 args=buffer(f32,128,random),buffer(f32,128),local(264)
// note: nobody fills the two elements at the ends of the tile
kernel void stencil(global const float *in, global float *out, local float *tile) {
  int l = get_local_id(0), i = get_global_id(0);
  tile[l + 1] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float left = tile[l], right = tile[l + 2]; //~ uninitialised-value
  out[i] = right - left; //~^other
}
