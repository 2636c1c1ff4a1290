// run sums global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: a function of the whole group, called by the odd work-items only
kernel void sums(global const int *in, global int *out) {
  int l = get_local_id(0), sum = 0;
  if (l & 1)
    sum = work_group_reduce_add(in[l]); //~ barrier-divergence
  out[l] = sum;
}
