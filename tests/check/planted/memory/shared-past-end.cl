// run square global=128 local=64 args=shared(i32,127,iota)
// note: the same mistake in shared memory
kernel void square(global int *data) {
  int i = get_global_id(0);
  int value = i * i;
  data[i] = value; //~ out-of-bounds
}
