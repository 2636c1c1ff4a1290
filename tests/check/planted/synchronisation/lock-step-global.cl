// run turn global=64 local=64 args=buffer(i32,64,iota)
// strict
// note: a rotation by one in global memory relies on all reads coming before all writes
kernel void turn(global int *data) {
  int l = get_local_id(0);
  int next = (l & ~7) | ((l + 1) & 7);
  int value = data[next]; //~ lock-step|race-work-items
  data[l] = value + 1; //~^other
}
