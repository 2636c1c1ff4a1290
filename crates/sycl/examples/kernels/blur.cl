// A scene of discs, and a blur of it in two passes.
kernel void scene(write_only image2d_t picture) {
  int x = get_global_id(0), y = get_global_id(1);
  float width = get_image_width(picture), height = get_image_height(picture);
  float u = x / width, v = y / height;
  float4 colour = (float4)(250 - 90 * v, 240 - 60 * u, 255, 255);
  for (int i = 0; i < 9; ++i) {
    float cx = 0.15f + 0.35f * (i % 3), cy = 0.2f + 0.3f * (i / 3);
    float dx = (u - cx) * width / height, dy = v - cy;
    if (dx * dx + dy * dy < 0.011f)
      colour = (float4)(40 + 25 * i, 220 - 20 * i, (i * 83) % 256, 255);
  }
  write_imagef(picture, (int2)(x, y), colour / 255);
}

// What lies outside of the picture is the sampler's to say.
kernel void blur(read_only image2d_t from, sampler_t sampler, write_only image2d_t to, int step_x, int step_y,
                 int radius) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0.0f;
  float weights = 0.0f;
  for (int i = -radius; i <= radius; ++i) {
    float weight = radius + 1 - abs(i);
    sum += weight * read_imagef(from, sampler, at + i * (int2)(step_x, step_y));
    weights += weight;
  }
  write_imagef(to, at, sum / weights);
}
