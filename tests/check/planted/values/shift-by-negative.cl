// run unpack global=64 local=64 args=buffer(u32,64,random),buffer(u32,64)
// language: c
// note: plain C: the first work-items' counts are negative
#define kernel __attribute__((device_kernel))
#define global __attribute__((opencl_global))
__attribute__((overloadable)) unsigned long get_global_id(unsigned);

kernel void unpack(global const unsigned *in, global unsigned *out) {
  int i = (int)get_global_id(0);
  int count = (i % 16) * 2 - 4;
  out[i] = in[i] >> count; //~ shift-width
}
