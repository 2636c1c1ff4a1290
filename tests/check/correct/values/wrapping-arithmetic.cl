// run hash global=64 local=64 args=buffer(u32,64,random),buffer(u32,64)
// note: unsigned arithmetic wraps
kernel void hash(global const uint *in, global uint *out) {
  int i = get_global_id(0);
  uint h = 2166136261u;
  for (int k = 0; k < 4; k++)
    h = (h ^ (in[i] >> 8 * k & 255)) * 16777619u;
  out[i] = h - 0xfffffff0u;
}
