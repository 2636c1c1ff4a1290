// run swap_bytes global=64 local=64 args=buffer(u8,64,iota),buffer(u8,64)
// note: neighbours write neighbouring bytes of one word
kernel void swap_bytes(global const uchar *in, global uchar *out) {
  local uchar bytes[64];
  int l = get_local_id(0);
  bytes[l] = in[l] + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = bytes[l ^ 3];
}
