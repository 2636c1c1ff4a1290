// run modes global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: one case of a switch has a barrier
kernel void modes(global const int *in, global int *out) {
  int l = get_local_id(0), value = in[l];
  switch (value & 3) {
  case 0:
    value *= 3;
    break;
  case 1:
    value += 7;
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    break;
  default:
    value -= 1;
  }
  out[l] = value;
}
