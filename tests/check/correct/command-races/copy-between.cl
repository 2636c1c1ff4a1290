// run produce global=64 local=64 args=buffer(i32,64),buffer(i32,64)
// copy same(1) same(0) 256
// fill same(0) 255 256
// run consume global=64 local=64 args=same(0),same(1)
// note: a copy and a fill between two launches of one list
kernel void produce(global int *a, global int *b) {
  int i = get_global_id(0);
  a[i] = i;
  b[i] = 0;
}

kernel void consume(global int *a, global int *b) {
  int i = get_global_id(0);
  b[63 - i] += a[i];
}
