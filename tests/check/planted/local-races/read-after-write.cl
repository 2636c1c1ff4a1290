// run neighbour global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64)
// note: read after write
kernel void neighbour(global const int *in, global int *out) {
  local int tile[64];
  int l = get_local_id(0);
  tile[l] = in[l]; //~ race-work-items
  out[l] = tile[(l + 32) % 64]; //~^other
}
