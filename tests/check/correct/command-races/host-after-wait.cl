// run increment global=256 local=64 args=shared(i32,256,iota),host(i32,256)
// wait
// host read 0
// host write 0+8
// host write 1+4
// run increment global=256 local=64 args=same(0),same(1)
// wait
// host read 1+4
// note: the host waits for each launch before it accesses what that has written
kernel void increment(global int *data, global int *copy) {
  int i = get_global_id(0);
  data[i]++;
  copy[i] = data[i];
}
