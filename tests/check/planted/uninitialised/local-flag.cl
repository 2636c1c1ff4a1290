// run any_large global=128 local=64 args=buffer(i32,128,iota),buffer(i32,2)
// allow: same-value
// note: the flag is set where something is found, and never cleared; the first group finds nothing
kernel void any_large(global const int *in, global int *out) {
  local int found[1];
  if (in[get_global_id(0)] > 100)
    found[0] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    out[get_group_id(0)] = found[0]; //~ uninitialised-value
}
