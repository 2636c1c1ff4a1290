// run push global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64,scratch),buffer(i32,1),buffer(i32,1)
// run sum global=1 local=1 args=same(1),same(2),same(3)
// note: of a list in memory without first values only the used slots are read
kernel void push(global const int *in, global int *list, global int *used, global int *total) {
  int i = get_global_id(0);
  if (in[i] % 3 == 0)
    atomic_xchg(&list[atomic_inc(used)], in[i]);
}

kernel void sum(global const int *list, global const int *used, global int *total) {
  int sum = 0;
  for (int k = 0; k < used[0]; k++)
    sum += list[k];
  total[0] = sum;
}
