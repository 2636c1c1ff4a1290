// run count global=256 local=64 args=buffer(i32,256,iota),buffer(i32,1)
// note: one branch increments with an atomic and the other without
kernel void count(global const int *in, global int *counter) {
  if (get_local_id(0) != 0)
    return;
  if (get_group_id(0) % 2 == 0)
    atomic_inc(counter); //~ mixed-atomic|race-groups
  else
    counter[0] += 1; //~^other
}
