// run spread global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: neighbouring elements belong to different groups
kernel void spread(global const int *in, global int *out) {
  int g = get_group_id(0), l = get_local_id(0), groups = get_num_groups(0);
  out[l * groups + g] = in[g * 64 + l];
}
