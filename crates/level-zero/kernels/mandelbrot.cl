// One work-item a pixel: how many steps until z leaves the circle of radius 2.
kernel void mandelbrot(global uint *steps, float left, float top, float step, uint limit) {
  size_t x = get_global_id(0), y = get_global_id(1);
  float cr = left + step * (float)x, ci = top + step * (float)y;
  float zr = 0, zi = 0;
  uint n = 0;
  while (n < limit && zr * zr + zi * zi < 4.0f) {
    float next = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = next;
    ++n;
  }
  steps[y * get_global_size(0) + x] = n;
}
