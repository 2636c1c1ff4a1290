// run touch global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),buffer(i32,64,ones)
// copy same(1) same(0) 256
// copy parallel same(1) same(2) 256
// expect: race-commands
// note: two copies to one buffer in two lists
kernel void touch(global const int *a, global const int *b, global const int *c) {
  (void)a;
  (void)b;
  (void)c;
}
