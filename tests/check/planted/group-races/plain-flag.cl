// run pass global=128 local=64 args=buffer(i32,1),buffer(i32,1),buffer(i32,2)
// note: the flag is a plain variable
kernel void pass(global int *data, volatile global int *flag, global int *out) {
  if (get_local_id(0) != 0)
    return;
  if (get_group_id(0) == 0) {
    data[0] = 42; //~? race-groups
    flag[0] = 1; //~ race-groups
  } else {
    int seen = 0;
    for (int k = 0; k < 1000000 && !seen; k++)
      seen = flag[0]; //~^other
    if (seen)
      out[1] = data[0]; //~? race-groups
  }
}
