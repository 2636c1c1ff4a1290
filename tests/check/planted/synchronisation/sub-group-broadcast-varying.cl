// run share global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: sub_group_broadcast wants one work-item for the sub-group
kernel void share(global const int *in, global int *out) {
  int l = get_local_id(0);
  uint from = get_sub_group_local_id() / 2;
  out[l] = sub_group_broadcast(in[l], from); //~ non-uniform-argument
}
