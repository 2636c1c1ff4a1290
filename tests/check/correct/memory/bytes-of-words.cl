// run swap_bytes global=64 local=64 args=buffer(u32,16,random),buffer(u8,64)
// note: words are read as bytes, to the last one
kernel void swap_bytes(global const uint *in, global uchar *out) {
  global const uchar *bytes = (global const uchar *)in;
  int i = get_global_id(0);
  out[i] = bytes[(i & ~3) + 3 - (i & 3)];
}
