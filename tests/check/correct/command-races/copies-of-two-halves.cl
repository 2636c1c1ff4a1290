// run touch global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),buffer(i32,64)
// copy same(1) same(0) 128
// copy parallel same(1+128) same(0+128) 128
// note: two copies in two lists to two halves; the launch touches another buffer
kernel void touch(global const int *a, global const int *b, global int *c) {
  int i = get_global_id(0);
  c[i] = i;
}
