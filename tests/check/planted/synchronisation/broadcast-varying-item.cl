// run share global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: work_group_broadcast wants one work-item for all
kernel void share(global const int *in, global int *out) {
  int l = get_local_id(0);
  out[l] = work_group_broadcast(in[l], l / 32); //~ non-uniform-argument
}
