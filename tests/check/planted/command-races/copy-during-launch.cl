// run produce global=256 local=64 args=buffer(i32,256),buffer(i32,256)
// copy parallel same(1) same(0) 1024
// expect: race-commands
// note: a copy in another list takes the result before it is there
kernel void produce(global int *data, global int *copy) {
  int i = get_global_id(0);
  data[i] = 5 * i; //~? race-commands
  (void)copy;
}
