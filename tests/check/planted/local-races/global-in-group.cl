// run exchange global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the same race in global memory, inside one group
kernel void exchange(global int *scratch, global int *out) {
  int l = get_local_id(0);
  scratch[l] = 3 * l; //~ race-work-items
  out[l] = scratch[63 - l]; //~^other
}
