// run fill global=8x4x4 local=4x4x2 args=buffer(i32,128)
// note: the height of a plane is multiplied with the wrong extent
kernel void fill(global int *out) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  int width = get_global_size(0);
  out[(z * width + y) * width + x] = x + y + z; //~ out-of-bounds
}
