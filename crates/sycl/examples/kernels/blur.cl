// A scene of discs, and a blur of it in two passes. Pixels are red, green, blue, alpha.
kernel void scene(global uchar4 *picture, uint width, uint height) {
  uint x = get_global_id(0), y = get_global_id(1);
  float u = (float)x / width, v = (float)y / height;
  uchar4 colour = (uchar4)(250 - 90 * v, 240 - 60 * u, 255, 255);
  for (uint i = 0; i < 9; ++i) {
    float cx = 0.15f + 0.35f * (i % 3), cy = 0.2f + 0.3f * (i / 3);
    float dx = (u - cx) * width / height, dy = v - cy;
    if (dx * dx + dy * dy < 0.011f)
      colour = (uchar4)(40 + 25 * i, 220 - 20 * i, (i * 83) % 256, 255);
  }
  picture[y * width + x] = colour;
}

kernel void blur(global const uchar4 *from, global uchar4 *to, uint width, uint height, uint step_x, uint step_y,
                 int radius) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 sum = 0.0f;
  float weights = 0.0f;
  for (int i = -radius; i <= radius; ++i) {
    int sx = clamp(x + i * (int)step_x, 0, (int)width - 1);
    int sy = clamp(y + i * (int)step_y, 0, (int)height - 1);
    float weight = (float)(radius + 1 - abs(i));
    sum += weight * convert_float4(from[sy * width + sx]);
    weights += weight;
  }
  to[y * width + x] = convert_uchar4_sat_rte(sum / weights);
}
