// run multiply global=32x32 local=8x8 args=buffer(f32,1024,random),buffer(f32,1024,random),buffer(f32,1024)
// note: two barriers in each step
kernel void multiply(global const float *a, global const float *b, global float *c) {
  local float ta[8][9], tb[8][9];
  int x = get_local_id(0), y = get_local_id(1);
  int column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (int t = 0; t < 32; t += 8) {
    ta[y][x] = a[row * 32 + t + x];
    tb[y][x] = b[(t + y) * 32 + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8; k++)
      sum += ta[y][k] * tb[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * 32 + column] = sum;
}
