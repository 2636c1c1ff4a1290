// Conversions: saturation, the four roundings, NaN and values out of range.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define FROM_FLOAT(S, T) \
kernel void S##_to_##T(global const S *a, global T *out) { \
    size_t i = get_global_id(0); S x = a[i]; global T *o = out + i * 5; \
    o[0] = convert_##T##_sat(x); o[1] = convert_##T##_sat_rte(x); o[2] = convert_##T##_sat_rtz(x); \
    o[3] = convert_##T##_sat_rtp(x); o[4] = convert_##T##_sat_rtn(x); }
#define FROM_FLOATS(S) FROM_FLOAT(S, char) FROM_FLOAT(S, uchar) FROM_FLOAT(S, short) FROM_FLOAT(S, ushort) \
    FROM_FLOAT(S, int) FROM_FLOAT(S, uint) FROM_FLOAT(S, long) FROM_FLOAT(S, ulong)
FROM_FLOATS(float) FROM_FLOATS(double)
FROM_FLOAT(half, int) FROM_FLOAT(half, uchar)
#define TO_FLOAT(S, T) \
kernel void S##_to_##T(global const S *a, global T *out) { \
    size_t i = get_global_id(0); S x = a[i]; global T *o = out + i * 5; \
    o[0] = convert_##T(x); o[1] = convert_##T##_rte(x); o[2] = convert_##T##_rtz(x); \
    o[3] = convert_##T##_rtp(x); o[4] = convert_##T##_rtn(x); }
TO_FLOAT(int, float) TO_FLOAT(uint, float) TO_FLOAT(long, float) TO_FLOAT(ulong, float)
TO_FLOAT(double, float) TO_FLOAT(half, float)
// Integers: narrowing keeps the low bits.
#define NARROW(S) \
kernel void S##_narrow(global const S *a, global long *out) { \
    size_t i = get_global_id(0); S x = a[i]; global long *o = out + i * 8; \
    o[0] = (char)x; o[1] = (uchar)x; o[2] = (short)x; o[3] = (ushort)x; o[4] = (int)x; o[5] = (uint)x; \
    o[6] = (long)x; o[7] = (long)(ulong)x; }
NARROW(char) NARROW(uchar) NARROW(short) NARROW(ushort) NARROW(int) NARROW(uint) NARROW(long) NARROW(ulong)
kernel void plain(global const float *a, global const double *b, global long *out) {
    size_t i = get_global_id(0); global long *o = out + i * 8; float x = a[i]; double y = b[i];
    o[0] = (int)x; o[1] = (uint)fabs(x); o[2] = (long)x; o[3] = (long)(ulong)fabs(x);
    o[4] = (int)y; o[5] = (uint)fabs(y); o[6] = (long)y; o[7] = (x != 0) | (y != 0) << 1;
}
kernel void bits(global const float *a, global const long *b, global int *out, global double *dout) {
    size_t i = get_global_id(0); out[2 * i] = as_int(a[i]); uchar4 v = as_uchar4(a[i]);
    out[2 * i + 1] = v.x | v.y << 8 | v.z << 16 | v.w << 24; dout[i] = as_double(b[i]);
}
kernel void vectors(global const float4 *a, global uchar4 *out, global int4 *iout) {
    size_t i = get_global_id(0); out[i] = convert_uchar4_sat_rte(a[i]); iout[i] = convert_int4_rtp(a[i]);
}
