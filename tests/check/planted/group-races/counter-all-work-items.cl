// run count global=256 local=64 args=buffer(i32,256,iota),buffer(i32,1)
// note: a counter that all work-items increment, inside a group and between groups
kernel void count(global const int *in, global int *counter) {
  if (in[get_global_id(0)] % 5 == 0)
    counter[0]++; //~ race-groups|race-work-items
}
