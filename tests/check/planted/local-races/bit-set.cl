// run bits global=64 local=64 args=buffer(u32,64,random),buffer(u32,2)
// note: the bits of one word are set without an atomic
kernel void bits(global const uint *in, global uint *out) {
  local uint set[2];
  int l = get_local_id(0);
  if (l < 2)
    set[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (in[l] & 1)
    set[l / 32] |= 1u << (l % 32); //~ race-work-items
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 2)
    out[l] = set[l];
}
