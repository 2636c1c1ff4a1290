// run sums global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: the functions of a group, with one work-item named by all
kernel void sums(global const int *in, global int *out) {
  int i = get_global_id(0), g = get_group_id(0);
  int first = work_group_broadcast(in[i], 3 * g);
  int sum = work_group_scan_exclusive_add(in[i] - first);
  out[i] = sum + work_group_reduce_max(in[i]);
}
