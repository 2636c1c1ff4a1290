// Float and double arithmetic with one rounding each, the exact functions, comparisons with NaN.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define OPS(T, I) \
kernel void ops_##T(global const T *a, global const T *b, global const T *c, global T *out) { \
    size_t i = get_global_id(0); T x = a[i], y = b[i], z = c[i]; global T *o = out + i * 28; \
    T whole; int e; T part = modf(x, &whole), m = frexp(x, &e), below, f = fract(x, &below); \
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = x / y; o[4] = -x; o[5] = fma(x, y, z); \
    o[6] = mad(x, y, z); o[7] = fmin(x, y); o[8] = fmax(x, y); o[9] = fabs(x); o[10] = copysign(x, y); \
    o[11] = floor(x); o[12] = ceil(x); o[13] = trunc(x); o[14] = rint(x); o[15] = round(x); \
    o[16] = sqrt(x); o[17] = fmod(x, y); o[18] = remainder(x, y); o[19] = fdim(x, y); \
    o[20] = nextafter(x, y); o[21] = logb(x); o[22] = maxmag(x, y); o[23] = minmag(x, y); \
    o[24] = x < y ? x : y; o[25] = part; o[26] = whole; o[27] = f; \
    out[get_global_size(0) * 28 + 2 * i] = m; out[get_global_size(0) * 28 + 2 * i + 1] = below; } \
kernel void classes_##T(global const T *a, global const T *b, global int *out) { \
    size_t i = get_global_id(0); T x = a[i], y = b[i]; global int *o = out + i * 4; int e; \
    frexp(x, &e); \
    o[0] = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | isnormal(x) << 3 | signbit(x) << 4 \
        | isordered(x, y) << 5 | isunordered(x, y) << 6 | isequal(x, y) << 7 | isnotequal(x, y) << 8 \
        | isgreater(x, y) << 9 | isgreaterequal(x, y) << 10 | isless(x, y) << 11 \
        | islessequal(x, y) << 12 | islessgreater(x, y) << 13; \
    o[1] = (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5 \
        | !(x == y) << 6 | !(x < y) << 7 | !(x <= y) << 8 | !(x > y) << 9 | !(x >= y) << 10 \
        | !(x != y) << 11; \
    o[2] = isfinite(x) && x != 0 ? ilogb(x) : 0; o[3] = isfinite(x) ? e : 0; } \
kernel void scale_##T(global const T *a, global const int *n, global T *out) { \
    size_t i = get_global_id(0); out[i] = ldexp(a[i], n[i]); }
OPS(float, int) OPS(double, long)

kernel void denormals(global const float *a, global float *out) {
    size_t i = get_global_id(0); float x = a[i];
    out[3 * i] = x * 0.5f; out[3 * i + 1] = x + x; out[3 * i + 2] = x * x;
}
