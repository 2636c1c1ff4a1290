// run spread global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: writing to the left of the own place, for the first work-item too
kernel void spread(global const int *in, global int *out) {
  int i = get_global_id(0);
  int value = in[i] * 3;
  out[i - 1] = value; //~ out-of-bounds
}
