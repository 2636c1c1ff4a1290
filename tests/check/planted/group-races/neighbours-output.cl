// run chain global=256 local=64 args=buffer(i32,256,iota),buffer(i32,256)
// note: each group adds the last output of the group before it
kernel void chain(global const int *in, global int *out) {
  int i = get_global_id(0), g = get_group_id(0);
  int before = g > 0 ? out[g * 64 - 1] : 0; //~ race-groups
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = before + in[i]; //~^other
}
