// run pack global=64 local=16 args=buffer(u32,64,random),buffer(u32,4)
// note: groups set the bits of shared words without an atomic
kernel void pack(global const uint *in, global uint *words) {
  uint i = get_global_id(0);
  if (get_local_id(0) == 0)
    words[i / 32] |= 1u << (i % 32); //~ race-groups
}
