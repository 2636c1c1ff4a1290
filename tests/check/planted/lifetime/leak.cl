// run fill global=64 local=64 args=leaked(i32,64),buffer(i32,64)
// expect: leak
// note: the program never frees the first buffer
kernel void fill(global int *a, global int *b) {
  int i = get_global_id(0);
  a[i] = i;
  b[i] = -i;
}
