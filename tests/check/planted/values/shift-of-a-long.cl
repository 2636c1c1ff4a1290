// run masks global=64 local=64 args=buffer(i32,64,iota),buffer(u64,64)
// language: c
// note: plain C: a mask of n bits is made for 64 bits, too, by a shift of 64
#define kernel __attribute__((device_kernel))
#define global __attribute__((opencl_global))
__attribute__((overloadable)) unsigned long get_global_id(unsigned);

kernel void masks(global const int *bits, global unsigned long *out) {
  unsigned long i = get_global_id(0);
  out[i] = (1ul << (bits[i] + 1)) - 1; //~ shift-width
}
