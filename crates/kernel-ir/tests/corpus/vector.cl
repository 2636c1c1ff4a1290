// Vectors of 2, 3, 4 and 8: parts, shuffles, elements by variable index, lane-wise selection.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void parts(global const int4 *a, global int *out) {
    size_t i = get_global_id(0); int4 v = a[i]; global int *o = out + i * 12;
    vstore4(v.wzyx, 0, o); vstore2(v.xz + v.yw, 2, o); int3 t = v.xyz * 2; vstore3(t, 2, o);
    v.yw = t.zx; o[9] = v.y; o[10] = v.w; o[11] = (v.s0 - v.s3) * t.s2;
}
kernel void by_index(global const float8 *a, global const int *n, global float *out) {
    size_t i = get_global_id(0); float8 v = a[i]; int k = n[i]; float e = v[k & 7];
    v[(k + 3) & 7] = e * 2.0f; out[2 * i] = e; out[2 * i + 1] = v.s0 + v.s1 + v.s2 + v.s3 + v.s4 + v.s5 + v.s6 + v.s7;
}
kernel void shuffles(global const uint8 *a, global const uint8 *m, global uint8 *out) {
    size_t i = get_global_id(0); out[2 * i] = shuffle(a[i], m[i]); out[2 * i + 1] = shuffle2(a[i], a[i] * 100u, m[i]);
}
kernel void lanes(global const int4 *a, global const int4 *b, global int4 *out, global int *flags) {
    size_t i = get_global_id(0); int4 x = a[i], y = b[i], c = x < y;
    out[4 * i] = c; out[4 * i + 1] = select(x, y, c); out[4 * i + 2] = bitselect(x, y, (int4)0x0f0f0f0f);
    out[4 * i + 3] = c ? x : y; flags[i] = (c.x | c.y | c.z | c.w) + dot(convert_float4(x - y), (float4)(1.0f)) * 2;
}
kernel void math4(global const float4 *a, global const float4 *b, global float4 *out, global float *d) {
    size_t i = get_global_id(0); float4 x = a[i], y = b[i];
    out[2 * i] = fma(x, y, x); out[2 * i + 1] = fmax(floor(x), y); d[i] = dot(x, y);
}
kernel void loads(global const char *a, global char *out) {
    size_t i = get_global_id(0); char3 v = vload3(i, a + 1); vstore3(v.zxy, i, out);
    char16 w = vload16(0, a + i); vstore16(w.s02468ace13579bdf, i, out + 3 * get_global_size(0));
}
kernel void masks(global const float4 *a, global int4 *out) {
    size_t i = get_global_id(0); float4 x = a[i];
    out[2 * i] = isnan(x) | (isinf(x) & 2) | (signbit(x) & 4); out[2 * i + 1] = isgreater(x, x.yzwx);
}
