// run normalise global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128)
// note: the first work-item's value is read by all without a barrier
kernel void normalise(global const int *in, global int *out) {
  local int base[1];
  int l = get_local_id(0), i = get_global_id(0);
  if (l == 0)
    base[0] = in[i]; //~ race-work-items
  out[i] = in[i] - base[0]; //~^other
}
