// run sort global=64 local=64 args=buffer(u32,64,random),buffer(u32,64)
// note: a bitonic sort with a barrier for each stage instead of each step
kernel void sort(global const uint *in, global uint *out) {
  local uint keys[64];
  uint l = get_local_id(0);
  keys[l] = in[l];
  for (uint size = 2; size <= 64; size *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint apart = size / 2; apart > 0; apart /= 2) {
      uint other = l ^ apart;
      if (other > l) {
        uint low = keys[l], high = keys[other]; //~ race-work-items
        bool swap = (low > high) == ((l & size) == 0);
        keys[l] = swap ? high : low; //~^other
        keys[other] = swap ? low : high; //~? race-work-items
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[l] = keys[l];
}
