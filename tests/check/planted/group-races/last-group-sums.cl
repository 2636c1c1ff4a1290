// run sum global=256 local=64 args=buffer(i32,256,iota),buffer(i32,4),buffer(i32,1)
// note: the group with the last number sums the others' results, as if it ran last
kernel void sum(global const int *in, global int *parts, global int *total) {
  int g = get_group_id(0), groups = get_num_groups(0);
  int part = work_group_reduce_add(in[get_global_id(0)]);
  if (get_local_id(0) == 0) {
    parts[g] = part; //~ race-groups
    if (g == groups - 1) {
      int sum = 0;
      for (int k = 0; k < groups; k++)
        sum += parts[k]; //~^other
      total[0] = sum;
    }
  }
}
