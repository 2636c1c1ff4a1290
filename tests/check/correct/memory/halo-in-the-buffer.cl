// run blur global=16x16 local=8x8 args=buffer(f32,324,random),buffer(f32,256)
// note: the buffer has a halo of one element on all sides
kernel void blur(global const float *padded, global float *out) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0.0f;
  for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++)
      sum += padded[(y + dy) * 18 + x + dx];
  out[y * 16 + x] = sum / 9.0f;
}
