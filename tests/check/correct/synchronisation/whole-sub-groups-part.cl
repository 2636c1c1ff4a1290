// run parts global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: sub-groups take different branches, each as a whole
kernel void parts(global const int *in, global int *out) {
  int i = get_global_id(0), value = in[i];
  if (get_sub_group_id() == 0)
    value = sub_group_reduce_add(value);
  for (uint k = 0; k < get_sub_group_id(); k++)
    value += sub_group_broadcast(value, k & 3);
  out[i] = value;
}
