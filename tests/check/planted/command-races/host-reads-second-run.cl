// run fill_ones global=256 local=64 args=shared(i32,256)
// wait
// run fill_ones global=256 local=64 args=same(0)
// host read 0+64
// expect: race-host
// note: only the first launch is waited for
kernel void fill_ones(global int *data) {
  data[get_global_id(0)] = 1; //~? race-host
}
