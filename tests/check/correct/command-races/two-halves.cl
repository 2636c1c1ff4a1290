// run fill global=128 local=64 args=buffer(i32,256),i32(1)
// run parallel fill global=128 local=64 args=same(0+512),i32(2)
// note: two launches in two lists write the two halves of a buffer
kernel void fill(global int *out, int value) {
  int i = get_global_id(0);
  out[i] = i + value;
}
