// The library's reductions: each group combines a share of the input in local memory and leaves one value.
// Operations: 0 plus, 1 multiplies, 2 minimum, 3 maximum; of integers 4 and, 5 or, 6 xor.
// With DOUBLE that of double alone, which not all devices have.

#define COMMON(a, b) case 0: return a + b; case 1: return a * b; case 2: return b < a ? b : a; case 3: return a < b ? b : a;
#define BITS(a, b) case 4: return a & b; case 5: return a | b; default: return a ^ b;

#define REDUCE(T, NAME, CASES)                                                                       \
  static T combine_##NAME(uint operation, T a, T b) { switch (operation) { CASES } }                 \
  kernel void reduce_##NAME(global const T *in, ulong count, global T *out, local T *scratch,        \
                            uint operation, T identity, uint keep) {                                 \
    size_t item = get_local_id(0);                                                                   \
    T value = identity;                                                                              \
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))                             \
      value = combine_##NAME(operation, value, in[i]);                                               \
    scratch[item] = value;                                                                           \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
    for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {                  \
      if (item < half_size)                                                                          \
        scratch[item] = combine_##NAME(operation, scratch[item], scratch[item + half_size]);         \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    }                                                                                                \
    if (item == 0)                                                                                   \
      out[get_group_id(0)] = keep ? combine_##NAME(operation, out[0], scratch[0]) : scratch[0];      \
  }

#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
REDUCE(double, double, COMMON(a, b) default: return a;)
#else
REDUCE(int, int, COMMON(a, b) BITS(a, b))
REDUCE(uint, uint, COMMON(a, b) BITS(a, b))
REDUCE(long, long, COMMON(a, b) BITS(a, b))
REDUCE(ulong, ulong, COMMON(a, b) BITS(a, b))
REDUCE(float, float, COMMON(a, b) default: return a;)
#endif
