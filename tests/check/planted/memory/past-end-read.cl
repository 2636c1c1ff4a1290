// run shift global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: the last work-item reads one element past the end
kernel void shift(global const int *in, global int *out) {
  int i = get_global_id(0);
  out[i] = in[i + 1]; //~ out-of-bounds
}
