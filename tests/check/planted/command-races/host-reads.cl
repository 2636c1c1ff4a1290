// run produce global=256 local=64 args=shared(i32,256)
// host read 0
// expect: race-host
// note: the host reads shared memory without waiting for the kernel
kernel void produce(global int *data) {
  int i = get_global_id(0);
  data[i] = i + 1; //~? race-host
}
