// run collect global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),buffer(i32,1)
// note: slots of a local queue are taken with an atomic, and read behind a barrier
kernel void collect(global const int *in, global int *out, global int *used) {
  local int count;
  local int queue[64];
  int l = get_local_id(0);
  if (l == 0)
    count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (in[l] % 3 == 0)
    queue[atomic_inc(&count)] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < count)
    out[l] = queue[l];
  if (l == 0)
    used[0] = count;
}
