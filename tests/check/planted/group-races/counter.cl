// run count global=256 local=64 args=buffer(i32,256,iota),buffer(i32,1)
// note: a counter that each group increments without an atomic
kernel void count(global const int *in, global int *counter) {
  int odd = work_group_reduce_add(in[get_global_id(0)] & 1);
  if (get_local_id(0) == 0)
    counter[0] += odd; //~ race-groups
}
