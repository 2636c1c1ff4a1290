// run copy global=32 local=32 args=buffer(f32,32,random),buffer(f32,32),local(32)
// note: the size of a local argument is in bytes, and the host passed the number of floats
kernel void copy(global const float *in, global float *out, local float *tile) {
  int l = get_local_id(0);
  tile[l] = in[l]; //~ local-bounds
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = tile[l] + 1.0f; //~? local-bounds
}
