// run swap global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the even work-items ask the odd ones, which are in the other branch
kernel void swap(global const int *in, global int *out) {
  int l = get_local_id(0);
  int value = in[l];
  if (get_sub_group_local_id() % 2 == 0)
    value = sub_group_shuffle_xor(value, 1); //~ sub-group-divergence
  out[l] = value;
}
