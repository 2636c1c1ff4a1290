// run gather global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64,scratch),buffer(i32,64)
// note: an index that nobody wrote
kernel void gather(global const int *in, global const int *index, global int *out) {
  int i = get_global_id(0);
  out[i] = in[index[i] & 63]; //~ uninitialised-value
}
