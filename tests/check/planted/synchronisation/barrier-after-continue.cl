// run rounds global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: `continue` leaves out the barrier for some work-items
kernel void rounds(global const int *in, global int *out) {
  int l = get_local_id(0), sum = 0;
  for (int k = 0; k < 4; k++) {
    if ((in[l] + k) % 5 == 0)
      continue;
    sum += k;
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
  }
  out[l] = sum;
}
