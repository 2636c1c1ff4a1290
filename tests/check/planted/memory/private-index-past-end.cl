// run count global=64 local=64 args=buffer(u32,1024,random),buffer(i32,64)
// note: remainders of nine need nine counters
kernel void count(global const uint *in, global int *out) {
  int i = get_global_id(0);
  int counters[8];
  for (int k = 0; k < 8; k++)
    counters[k] = 0;
  for (int k = 0; k < 16; k++)
    counters[in[i * 16 + k] % 9] += 1; //~ private-bounds
  out[i] = counters[i % 8];
}
