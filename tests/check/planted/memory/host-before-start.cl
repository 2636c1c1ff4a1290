// run previous global=64 local=64 args=host(i32,64,iota),buffer(i32,64)
// note: the same mistake in host memory
kernel void previous(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i - 2]; //~ out-of-bounds
}
