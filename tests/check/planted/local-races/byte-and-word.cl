// run pack global=64 local=64 args=buffer(u8,64,iota),buffer(u32,16)
// note: bytes are written, and the word that holds four of them is read without a barrier
kernel void pack(global const uchar *in, global uint *out) {
  local uint words[16];
  int l = get_local_id(0);
  ((local uchar *)words)[l] = in[l] + 1; //~ race-work-items
  if (l % 4 == 0)
    out[l / 4] = words[l / 4]; //~^other
}
