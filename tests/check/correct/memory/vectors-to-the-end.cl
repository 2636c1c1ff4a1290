// run add global=16 local=16 args=buffer(i32,64,iota),buffer(i32,64)
// note: the last vector ends with the buffer
kernel void add(global const int *in, global int *out) {
  int i = get_global_id(0);
  int4 v = vload4(i, in);
  vstore4(v + v.wzyx, 15 - i, out);
}
