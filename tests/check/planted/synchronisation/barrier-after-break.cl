// run search global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: work-items leave the loop when they have found their value
kernel void search(global const int *in, global int *out) {
  int l = get_local_id(0), k = 0;
  for (; k < 8; k++) {
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    if (in[(l + k) & 63] % 8 == 5)
      break;
  }
  out[l] = k;
}
