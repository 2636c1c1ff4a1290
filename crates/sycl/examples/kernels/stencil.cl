// One step of heat flow on the rows from `first_row` on; the border keeps its temperature.
kernel void heat(global const float *before, global float *after, uint width, uint height, uint first_row) {
  uint x = get_global_id(0), y = first_row + get_global_id(1);
  uint i = y * width + x;
  float here = before[i];
  if (x == 0 || y == 0 || x + 1 == width || y + 1 == height)
    after[i] = here;
  else
    after[i] = here + 0.24f * (before[i - 1] + before[i + 1] + before[i - width] + before[i + width] - 4.0f * here);
}
