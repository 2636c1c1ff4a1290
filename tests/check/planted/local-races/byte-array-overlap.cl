// run nibble global=64 local=64 args=buffer(u8,64,iota),buffer(u8,64)
// note: bytes: each work-item writes two of them, one step apart
kernel void nibble(global const uchar *in, global uchar *out) {
  local uchar bytes[80];
  int l = get_local_id(0);
  uchar value = in[l];
  bytes[l] = value; //~ race-work-items
  bytes[l + 8] = value / 2; //~^other
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = bytes[l];
}
