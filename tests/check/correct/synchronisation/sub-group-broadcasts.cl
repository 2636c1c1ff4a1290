// run share global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: each sub-group names another source, and so does each part of one
kernel void share(global const int *in, global int *out) {
  int l = get_local_id(0);
  int first = sub_group_broadcast(in[l], get_sub_group_id() % get_max_sub_group_size());
  for (uint from = 0; from < get_sub_group_size(); from++)
    first += sub_group_broadcast(in[l], from);
  if (get_sub_group_local_id() % 2 == 0)
    first += sub_group_non_uniform_broadcast(in[l], 0);
  else
    first += sub_group_non_uniform_broadcast(in[l], 1);
  out[l] = first;
}
