// run produce global=256 local=64 args=buffer(i32,256)
// run parallel consume global=256 local=64 args=same(0),buffer(i32,256)
// note: the second list's launch reads what the first's writes, and no event orders them
kernel void produce(global int *data) {
  int i = get_global_id(0);
  data[i] = 3 * i; //~ race-commands
}

kernel void consume(global const int *data, global int *out) {
  int i = get_global_id(0);
  out[i] = data[i] + 1; //~^other
}
