// run collect global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),buffer(i32,1)
// note: work-items take slots of a queue with a plain increment; the last slot stays free
kernel void collect(global const int *in, global int *out, global int *used) {
  local int count;
  int l = get_local_id(0);
  if (l == 0)
    count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (in[l] % 2 == 0) {
    int slot = count++; //~ race-work-items
    out[slot] = in[l]; //~? race-work-items
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0)
    used[0] = count;
}
