// run negate global=64 local=64 args=buffer(i16,64,iota)
// note: the host allocated shorts, the kernel takes ints
kernel void negate(global int *data) {
  int i = get_global_id(0);
  if (i < 40)
    data[i] = -data[i]; //~ out-of-bounds
}
