// run shift global=64 local=64 args=buffer(i32,64,iota),buffer(i32,64),i32(32)
// language: c
// note: plain C, as OpenCL C would take the count modulo the width: a count of 32 for an int
#define kernel __attribute__((device_kernel))
#define global __attribute__((opencl_global))
__attribute__((overloadable)) unsigned long get_global_id(unsigned);

kernel void shift(global const int *in, global int *out, int count) {
  unsigned long i = get_global_id(0);
  out[i] = in[i] << count; //~ shift-width
}
