// run spread global=16 local=16 args=buffer(i32,16,iota),buffer(i32,63)
// note: the last vector is stored one element beyond the end
kernel void spread(global const int *in, global int *out) {
  int i = get_global_id(0);
  int4 v = in[i];
  vstore4(v, i, out); //~ out-of-bounds
}
