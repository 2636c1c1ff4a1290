// run sums global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: sums, shuffles and votes of sub-groups
kernel void sums(global const int *in, global int *out) {
  int i = get_global_id(0);
  uint s = get_sub_group_local_id();
  int sum = in[i];
  for (uint step = 1; step < get_sub_group_size(); step *= 2)
    sum += sub_group_shuffle_xor(sum, step);
  int left = sub_group_shuffle_up(sum, 1u);
  out[i] = sum + (s > 0 ? left : 0) + sub_group_all(sum >= 0) + sub_group_broadcast(in[i], 0);
}
