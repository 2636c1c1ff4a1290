// run halves global=64 local=64 args=buffer(i32,128,iota),same(0+256)
// note: an argument that points into the middle of a buffer may look before it
kernel void halves(global const int *all, global int *second) {
  int i = get_global_id(0);
  second[i] = second[i - 64] + all[i];
}
