// run twice global=256 local=64 args=host(i32,256,iota),shared(i32,256),shared(i32,256)
// host read 0
// host write 2
// note: both only read the input; the third buffer is not used by the launch
kernel void twice(global const int *in, global int *out, global int *unused) {
  int i = get_global_id(0);
  out[i] = 2 * in[i];
}
