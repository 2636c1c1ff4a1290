// run sum global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// fill parallel same(0) 0 1024
// expect: race-commands
// note: the input is cleared for the next round while the kernel reads it
kernel void sum(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i] + 1; //~? race-commands
}
