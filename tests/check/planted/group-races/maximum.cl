// run largest global=256 local=64 args=buffer(i32,256,random),buffer(i32,1)
// note: test and set of a maximum without an atomic
kernel void largest(global const int *in, global int *result) {
  int best = work_group_reduce_max(in[get_global_id(0)]);
  if (get_local_id(0) == 0) {
    if (best >= result[0]) //~ race-groups
      result[0] = best; //~^other
  }
}
