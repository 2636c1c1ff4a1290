// run relax global=256 local=64 args=buffer(i32,256,iota),buffer(i32,257)
// note: each group writes its part and the first element of the next group's
kernel void relax(global const int *in, global int *out) {
  int l = get_local_id(0), i = get_global_id(0);
  out[i] = in[i]; //~ race-groups
  if (l == 63)
    out[i + 1] = -in[i]; //~^other
}
