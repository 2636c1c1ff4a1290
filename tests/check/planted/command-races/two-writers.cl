// run fill global=256 local=64 args=buffer(i32,256),i32(1)
// run parallel fill global=256 local=64 args=same(0),i32(2)
// note: two launches in two lists write one buffer
kernel void fill(global int *out, int value) {
  int i = get_global_id(0);
  out[i] = i + value; //~ race-commands
}
