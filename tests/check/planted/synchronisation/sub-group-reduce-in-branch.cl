// run sums global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a function of the sub-group that only some of its work-items call
kernel void sums(global const int *in, global int *out) {
  int l = get_local_id(0), sum = 0;
  if (in[l] % 3 != 0)
    sum = sub_group_reduce_add(l); //~ sub-group-divergence
  out[l] = sum;
}
