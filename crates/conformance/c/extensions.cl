// Kernels of extensions.c; extensions.spv is made from this file by clang -target spirv64 -cl-std=CL3.0 -mllvm
// -spirv-ext=all; once_first.spv and once_second.spv by clang -x clcpp -target spirv64 with -DFIRST and -DSECOND.
#if defined(FIRST) || defined(SECOND)
inline int once(int x) { return 3 * x + 1; }
#ifdef FIRST
kernel void first(global int *out, int x) { out[0] = once(x); }
#else
kernel void second(global int *out, int x) { out[1] = 2 * once(x); }
#endif
#else
ushort __spirv_ConvertFToBF16INTEL(float);
float __spirv_ConvertBF16ToFINTEL(ushort);
kernel void brain(global const float *in, global ushort *bits, global float *out) {
  size_t i = get_global_id(0);
  bits[i] = __spirv_ConvertFToBF16INTEL(in[i]);
  out[i] = __spirv_ConvertBF16ToFINTEL(bits[i]);
}

float __spirv_AtomicFAddEXT(global float *, int, int, float);
float __spirv_AtomicFMaxEXT(global float *, int, int, float);
kernel void tally(global float *sum, global float *most) {
  __spirv_AtomicFAddEXT(sum, 1, 0, 1.0f);
  __spirv_AtomicFMaxEXT(most, 1, 0, (float)get_global_id(0));
}

kernel void identify(global uint *out) { out[get_global_id(0) - get_global_offset(0)] = (uint)get_global_id(0); }

kernel void subgroups(global uint *sums, global uint *sizes) {
  size_t i = get_global_id(0);
  sums[i] = (uint)sub_group_reduce_add((int)get_sub_group_local_id());
  sizes[i] = get_sub_group_size();
}
#endif
