// run left global=128 local=64 args=buffer(i32,128,iota),buffer(i32,128),local(64),local(256)
// note: the first work-item of each group reads before its local array
kernel void left(global const int *in, global int *out, local int *front, local int *tile) {
  int l = get_local_id(0), i = get_global_id(0);
  tile[l] = in[i];
  if (l < 16)
    front[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[l - 1] + front[l & 15]; //~ local-bounds
}
