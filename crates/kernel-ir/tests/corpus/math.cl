// Mathematics of OpenCL.std, float and double, one row of results for each input.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define OPS(T) \
kernel void one_##T(global const T *a, global T *out) { size_t i = get_global_id(0); T x = a[i]; global T *o = out + i * 40; \
    o[0] = acos(x); o[1] = acosh(x); o[2] = asin(x); o[3] = asinh(x); o[4] = atan(x); o[5] = atanh(x); o[6] = cbrt(x); o[7] = cos(x); \
    o[8] = cosh(x); o[9] = cospi(x); o[10] = erf(x); o[11] = erfc(x); o[12] = exp(x); o[13] = exp2(x); o[14] = exp10(x); o[15] = expm1(x); \
    o[16] = log(x); o[17] = log2(x); o[18] = log10(x); o[19] = log1p(x); o[20] = rsqrt(x); o[21] = sin(x); o[22] = sinh(x); o[23] = sinpi(x); \
    o[24] = tan(x); o[25] = tanh(x); o[26] = tgamma(x); o[27] = lgamma(x); o[28] = acospi(x); o[29] = asinpi(x); o[30] = atanpi(x); o[31] = tanpi(x); \
    o[32] = degrees(x); o[33] = radians(x); o[34] = sqrt(x); o[35] = sign(x); o[36] = smoothstep((T)0, (T)2, x); o[37] = step((T)1, x); \
    o[38] = mix((T)1, x, (T)0.25); o[39] = clamp(x, (T)-1, (T)2); } \
kernel void two_##T(global const T *a, global const T *b, global T *out) { size_t i = get_global_id(0); T x = a[i], y = b[i]; global T *o = out + i * 5; \
    o[0] = pow(x, y); o[1] = powr(x, y); o[2] = atan2(x, y); o[3] = hypot(x, y); o[4] = atan2pi(x, y); } \
kernel void whole_##T(global const T *a, global const int *n, global T *out) { size_t i = get_global_id(0); \
    out[2 * i] = pown(a[i], n[i]); out[2 * i + 1] = rootn(a[i], n[i]); }
OPS(float) OPS(double)
kernel void natives(global const float *a, global float *out) { size_t i = get_global_id(0); float x = a[i]; global float *o = out + i * 14;
    o[0] = native_cos(x); o[1] = native_divide(1.0f, x); o[2] = native_exp(x); o[3] = native_exp2(x); o[4] = native_exp10(x); o[5] = native_log(x); o[6] = native_log2(x);
    o[7] = native_log10(x); o[8] = native_powr(x, 1.5f); o[9] = native_recip(x); o[10] = native_rsqrt(x); o[11] = native_sin(x); o[12] = native_sqrt(x); o[13] = native_tan(x); }
kernel void vectors(global const float4 *a, global float4 *out) { size_t i = get_global_id(0); float4 x = a[i], c; float4 s = sincos(x, &c); int4 e; float4 m = frexp(x, &e);
    out[5 * i] = s; out[5 * i + 1] = c; out[5 * i + 2] = m; out[5 * i + 3] = convert_float4(e); out[5 * i + 4] = pow(fabs(x), x.yzwx); }
kernel void geometry(global const float4 *a, global const float4 *b, global float *out) { size_t i = get_global_id(0); float4 x = a[i], y = b[i];
    float3 c = cross(x.xyz, y.xyz), n = normalize(x.xyz); global float *o = out + 9 * i; o[0] = dot(x, y); o[1] = length(x); o[2] = distance(x, y);
    o[3] = c.x; o[4] = c.y; o[5] = c.z; o[6] = n.x; o[7] = n.y; o[8] = n.z; }
kernel void quotients(global const float *a, global const float *b, global float *out, global int *q) { size_t i = get_global_id(0); int k, s; out[2 * i] = remquo(a[i], b[i], &k); out[2 * i + 1] = lgamma_r(a[i], &s); q[2 * i] = k; q[2 * i + 1] = s; }
