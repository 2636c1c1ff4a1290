// run first global=128 local=64 args=buffer(i32,255)
// run parallel second global=128 local=64 args=same(0)
// note: two halves that overlap in one element
kernel void first(global int *data) {
  int i = get_global_id(0);
  data[i] = i; //~ race-commands
}

kernel void second(global int *data) {
  int i = get_global_id(0);
  data[127 + i] = -i; //~^other
}
