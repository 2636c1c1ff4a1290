// run shift global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: arrays that count from one: the base lies before the start, the elements do not
kernel void shift(global const int *in, global int *out) {
  global const int *a = in - 1;
  global int *b = out - 1000;
  int i = get_global_id(0) + 1;
  b[999 + i] = a[i] * i;
}
