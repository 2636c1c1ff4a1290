// run all_but_one global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),i32(63)
// note: a single work-item does not reach the barrier
kernel void all_but_one(global const int *in, global int *out, int missing) {
  int l = get_local_id(0);
  int value = in[l] + 1;
  if (l != missing)
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
  out[l] = value;
}
