// run shift global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: the last work-item writes one element past the end
kernel void shift(global const int *in, global int *out) {
  int i = get_global_id(0);
  int value = in[i];
  out[i + 1] = value; //~ out-of-bounds
}
