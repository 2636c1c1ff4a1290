// run spread global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: groups write 48 elements apart, but 64 each
kernel void spread(global const int *in, global int *out) {
  int g = get_group_id(0), l = get_local_id(0);
  out[g * 48 + l] = in[get_global_id(0)]; //~ race-groups
}
