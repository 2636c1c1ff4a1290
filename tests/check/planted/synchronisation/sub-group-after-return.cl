// run counts global=128 local=64 args=buffer(i32,100,iota),buffer(i32,128),i32(100)
// note: the work-items behind the end return before the sub-group's sum
kernel void counts(global const int *in, global int *out, int n) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  out[i] = sub_group_scan_inclusive_add(in[i]); //~ sub-group-divergence
}
