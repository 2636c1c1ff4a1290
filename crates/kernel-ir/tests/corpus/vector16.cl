// Vectors of 16 doubles. Without optimisation clang 22 writes their alignment, 128, as a signed byte.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void sixteen(global const double *a, global double *out) {
    size_t i = get_global_id(0); double16 v = vload16(i, a); v = v.sfedcba9876543210 * (double16)(2.0) + v;
    vstore16(v, i, out); double8 h = v.hi - v.lo; vstore8(h.even.xyzwxyzw, i, out + 16 * get_global_size(0));
}
