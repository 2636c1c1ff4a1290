// run scale global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256),i32(2)
// run parallel scale global=256 local=64 args=same(0),buffer(i32,256),i32(3)
// note: two launches read one buffer
kernel void scale(global const int *in, global int *out, int factor) {
  int i = get_global_id(0);
  out[i] = factor * in[i];
}
