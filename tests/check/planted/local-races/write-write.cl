// run last global=64 local=64 args=buffer(i32,64,iota),buffer(i32,1)
// note: write after write: different values, one place
kernel void last(global const int *in, global int *out) {
  local int winner;
  int l = get_local_id(0);
  if (in[l] % 3 == 0)
    winner = l; //~ race-work-items
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0)
    out[0] = winner;
}
