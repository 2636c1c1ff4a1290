// run shifts global=64 local=64 args=buffer(u32,64,iota),buffer(u32,64)
// language: c
// note: plain C: counts that are masked, tested for, or 31 at most
#define kernel __attribute__((device_kernel))
#define global __attribute__((opencl_global))
__attribute__((overloadable)) unsigned long get_global_id(unsigned);

kernel void shifts(global const unsigned *in, global unsigned *out) {
  unsigned i = (unsigned)get_global_id(0);
  unsigned rotated = in[i] << (i & 31) | in[i] >> (-i & 31);
  unsigned bit = in[i] < 32 ? 1u << in[i] : 0;
  out[i] = rotated ^ bit ^ (in[i] << 31);
}
