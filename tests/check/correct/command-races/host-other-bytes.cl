// run lower_half global=64 local=64 args=shared(i32,128,iota)
// host read 0+256
// host write 0+508
// host read 0+256
// note: the host uses the half of the buffer that the launch does not touch
kernel void lower_half(global int *data) {
  data[get_global_id(0)] = 7;
}
