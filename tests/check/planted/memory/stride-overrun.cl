// run sample global=64 local=16 args=buffer(i32,256,iota),buffer(i32,64),i32(5)
// note: 64 steps of 5 need 316 elements, and there are 256
kernel void sample(global const int *in, global int *out, int stride) {
  int i = get_global_id(0);
  out[i] = in[i * stride]; //~ out-of-bounds
}
