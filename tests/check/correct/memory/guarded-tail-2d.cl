// run rows global=32x32 local=8x8 args=buffer(i32,651),i32(31),i32(21)
// note: two dimensions with an odd width, without padding
kernel void rows(global int *out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height)
    return;
  out[y * width + x] = x * y;
}
