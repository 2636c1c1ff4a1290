// run repeat global=64 local=64 args=buffer(u32,64,scratch),buffer(u32,64)
// note: the number of steps of a loop comes from memory nobody wrote
kernel void repeat(global const uint *counts, global uint *out) {
  int i = get_global_id(0);
  uint sum = 1;
  uint count = counts[i] & 15; //~ uninitialised-value
  for (uint k = 0; k < count; k++) //~^other
    sum = sum * 3 + k;
  out[i] = sum; //~? uninitialised-value
}
