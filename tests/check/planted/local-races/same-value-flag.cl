// run any_odd global=128 local=64 args=buffer(i32,128,iota),buffer(i32,2)
// note: many work-items set one flag to the same value
kernel void any_odd(global const int *in, global int *out) {
  local int found;
  int l = get_local_id(0);
  if (l == 0)
    found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (in[get_global_id(0)] % 2 == 1)
    found = 1; //~ same-value-write
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0)
    out[get_group_id(0)] = found;
}
