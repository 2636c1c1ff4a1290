// run fill global=64 local=64 args=buffer(i32,64,uninit)
// note: an output without a first value that the kernel writes whole
kernel void fill(global int *out) {
  int i = get_global_id(0);
  out[i] = 3 * i;
}
