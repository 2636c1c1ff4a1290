// run clear global=128 local=64 args=buffer(i32,96,ones),i32(384)
// note: the bound is in bytes and the index in elements
kernel void clear(global int *data, int size) {
  int i = get_global_id(0);
  if (i < size)
    data[i] = 0; //~ out-of-bounds
}
