// run fill global=256 local=64 args=buffer(i32,256),i32(1)
// run twice global=256 local=64 args=same(0)
// run reverse global=128 local=64 args=same(0)
// note: launches in one in-order list on one buffer
kernel void fill(global int *data, int value) {
  data[get_global_id(0)] = value + get_global_id(0);
}

kernel void twice(global int *data) {
  data[255 - get_global_id(0)] *= 2;
}

kernel void reverse(global int *data) {
  int i = get_global_id(0);
  int value = data[i];
  data[i] = data[255 - i];
  data[255 - i] = value;
}
