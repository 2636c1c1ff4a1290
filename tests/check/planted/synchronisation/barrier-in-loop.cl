// run repeat global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: the number of steps differs between the work-items
kernel void repeat(global const int *in, global int *out) {
  int l = get_local_id(0), sum = 0;
  for (int k = 0; k < 1 + in[l] % 3; k++) {
    sum += k * l;
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
  }
  out[l] = sum;
}
