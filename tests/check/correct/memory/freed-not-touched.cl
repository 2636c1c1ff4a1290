// run choose global=64 local=64 args=buffer(i32,64,iota),freed(i32,64),buffer(i32,64),i32(0)
// note: a freed buffer is passed on, and not touched
kernel void choose(global const int *a, global const int *b, global int *out, int second) {
  int i = get_global_id(0);
  global const int *from = second ? b : a;
  out[i] = from[i];
}
