// run zero global=64 local=64 args=shared(i32,64),shared(i32,64,iota)
// copy same(0) same(1) 256
// host read 1
// wait
// host read 0
// fill same(1) 5 256
// host write 0
// wait
// host read 1
// note: the source of a copy is read while it runs, its target after it
kernel void zero(global int *out, global const int *in) {
  out[get_global_id(0)] = 0;
}
