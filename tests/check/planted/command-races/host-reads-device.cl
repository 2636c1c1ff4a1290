// run produce global=64 local=64 args=buffer(i32,64)
// wait
// host read 0
// strict
// expect: race-host
// note: device memory is for devices; most devices let the host not read it, even after a wait
kernel void produce(global int *data) {
  data[get_global_id(0)] = 1;
}
