// Half: every operation rounds once to half; loads and stores of half in memory.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
kernel void ops_half(global const half *a, global const half *b, global half *out) {
    size_t i = get_global_id(0); half x = a[i], y = b[i]; global half *o = out + i * 13;
    o[0] = x + y; o[1] = x - y; o[2] = x * y; o[3] = x / y; o[4] = -x; o[5] = fabs(x);
    o[6] = fmin(x, y); o[7] = fmax(x, y); o[8] = floor(x); o[9] = sqrt(x); o[10] = copysign(x, y);
    o[11] = x < y ? x : y; o[12] = x * y + x;
}
kernel void classes_half(global const half *a, global const half *b, global int *out) {
    size_t i = get_global_id(0); half x = a[i], y = b[i];
    out[i] = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | (x == y) << 3 | (x < y) << 4 | (x != y) << 5;
}
kernel void sum_half(global const half *a, global half *out, int n) {
    half s = 0; for (int i = 0; i < n; i++) s += a[i]; out[get_global_id(0)] = s;
}
kernel void storage(global const half *a, global float *out, global half *back) {
    size_t i = get_global_id(0); float x = vload_half(i, a); out[i] = x; float y = x * 1.0009765625f + 1e-6f;
    vstore_half(y, i, back); vstore_half_rtz(y, get_global_size(0) + i, back);
    vstore_half_rtp(y, 2 * get_global_size(0) + i, back); vstore_half_rtn(y, 3 * get_global_size(0) + i, back);
}
kernel void storage4(global const half *a, global float4 *out, global half *back) {
    size_t i = get_global_id(0); float4 v = vload_half4(i, a); out[i] = v; vstore_half4_rte(v * 3.0f, i, back);
}
