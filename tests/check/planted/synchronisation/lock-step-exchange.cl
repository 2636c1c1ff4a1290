// run swap global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// strict
// note: neighbours of one sub-group exchange values through local memory without a barrier
kernel void swap(global const int *in, global int *out) {
  local volatile int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l]; //~ lock-step|race-work-items
  out[l] = tile[l ^ 1]; //~^other
}
