// run sort global=64 local=64 args=buffer(u32,64,random),buffer(u32,64)
// note: a barrier for each step of a bitonic sort
kernel void sort(global const uint *in, global uint *out) {
  local uint keys[64];
  uint l = get_local_id(0);
  keys[l] = in[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint size = 2; size <= 64; size *= 2) {
    for (uint apart = size / 2; apart > 0; apart /= 2) {
      uint other = l ^ apart;
      if (other > l) {
        uint low = keys[l], high = keys[other];
        bool swap = (low > high) == ((l & size) == 0);
        keys[l] = swap ? high : low;
        keys[other] = swap ? low : high;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  out[l] = keys[l];
}
