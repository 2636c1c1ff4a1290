// run pair global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: of 64 work-items only 17 and 40 meet
kernel void pair(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  int place = l == 40 ? 17 : l;
  tile[place] = in[l] + 5; //~ race-work-items
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l != 40)
    out[l] = tile[l];
}
