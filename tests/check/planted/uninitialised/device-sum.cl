// run add global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64,uninit)
// note: an output that the host must clear first, because the kernel adds to it
kernel void add(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] += in[i]; //~ uninitialised-value
}
