// run update global=256 local=64 args=buffer(f32,256,random)
// note: each work-item reads and writes its own element in several steps
kernel void update(global float *data) {
  int i = get_global_id(0);
  for (int k = 0; k < 4; k++) {
    data[i] = data[i] * 0.5f + k;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
}
