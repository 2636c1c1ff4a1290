// run produce global=256 local=64 args=buffer(i32,256)
// free 0
// expect: invalid-lifetime|use-after-free
// note: the buffer is freed while the kernel may still write it. May crash without a checker
kernel void produce(global int *data) {
  int i = get_global_id(0);
  data[i] = i + 1; //~? use-after-free|invalid-lifetime
}
