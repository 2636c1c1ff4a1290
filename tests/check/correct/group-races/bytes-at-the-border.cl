// run encode global=100 local=25 args=buffer(u8,100,iota),buffer(u8,100)
// note: groups of 25 bytes: the last byte of one and the first of the next lie in one word
kernel void encode(global const uchar *in, global uchar *out) {
  int i = get_global_id(0);
  out[i] = in[i] ^ 0x55;
}
