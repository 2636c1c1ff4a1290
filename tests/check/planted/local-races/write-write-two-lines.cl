// run mark global=64 local=64 args=buffer(i32,64)
// note: each work-item writes its own place and its right neighbour's
kernel void mark(global int *out) {
  local int tile[65];
  int l = get_local_id(0);
  tile[l] = l; //~ race-work-items
  tile[l + 1] = -l; //~^other
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = tile[l];
}
