// run first global=64 local=64 args=shared(i32,64),shared(i32,64)
// run parallel second global=64 local=64 args=same(1)
// host read 1+4
// expect: race-host
// note: the host reads what the launch in the other list writes
kernel void first(global int *a, global int *b) {
  a[get_global_id(0)] = 1;
}
kernel void second(global int *b) {
  b[get_global_id(0)] = 2; //~? race-host
}
