// run encode global=128 local=32 args=buffer(u8,128,iota),buffer(u8,136)
// note: each group ends its bytes with a zero, where the next group's begin
kernel void encode(global const uchar *in, global uchar *out) {
  int l = get_local_id(0), i = get_global_id(0);
  out[i] = in[i] ^ 0x55; //~ race-groups
  if (l == 31)
    out[i + 1] = 0; //~^other
}
