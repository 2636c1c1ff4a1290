// run zero global=64 local=64 args=host(i32,64,iota),buffer(i32,64)
// wait
// copy same(1) same(0) 256
// host write 0+128
// expect: race-host
// note: the host changes the source of a copy that may still be running
kernel void zero(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i];
}
