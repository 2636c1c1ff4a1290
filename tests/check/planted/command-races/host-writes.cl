// run consume global=256 local=64 args=host(i32,256,iota),buffer(i32,256)
// host write 0
// strict
// expect: race-host
// note: the host changes the input while the kernel reads it
kernel void consume(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i] * 2; //~? race-host
}
