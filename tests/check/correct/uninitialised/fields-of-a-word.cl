// run pack global=32 local=32 args=buffer(u32,32,scratch),buffer(u32,32)
// run unpack global=32 local=32 args=same(0),same(1)
// note: two fields of a word are set, the rest of its bits stays what it was, and the two are read
kernel void pack(global uint *words, global uint *out) {
  uint i = get_global_id(0);
  words[i] = (words[i] & ~0xfffu) | (i & 63) << 6 | 7;
}

kernel void unpack(global const uint *words, global uint *out) {
  uint i = get_global_id(0);
  out[i] = (words[i] >> 6 & 63) + (words[i] & 7);
}
