// Sub-groups of 8, 16 and 32: places, reductions, scans, votes, shuffles, among all lanes and some.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define KERNELS(W) \
__attribute__((intel_reqd_sub_group_size(W))) kernel void places_##W(global uint *out) { \
    size_t i = get_global_linear_id(); global uint *o = out + i * 6; o[0] = get_sub_group_local_id(); o[1] = get_sub_group_id(); \
    o[2] = get_sub_group_size(); o[3] = get_max_sub_group_size(); o[4] = get_num_sub_groups(); o[5] = get_enqueued_num_sub_groups(); } \
__attribute__((intel_reqd_sub_group_size(W))) kernel void reduce_##W(global const int *a, global int *out) { \
    size_t i = get_global_id(0); int x = a[i]; global int *o = out + i * 10; o[0] = sub_group_reduce_add(x); o[1] = sub_group_reduce_min(x); \
    o[2] = sub_group_reduce_max(x); o[3] = sub_group_scan_inclusive_add(x); o[4] = sub_group_scan_exclusive_add(x); \
    o[5] = sub_group_scan_inclusive_max(x); o[6] = sub_group_scan_exclusive_min(x); o[7] = sub_group_broadcast(x, 5); \
    o[8] = sub_group_all(x > -90); o[9] = sub_group_any(x > 90); } \
__attribute__((intel_reqd_sub_group_size(W))) kernel void shuffle_##W(global const int *a, global int *out) { \
    size_t i = get_global_id(0); int x = a[i]; uint l = get_sub_group_local_id(); global int *o = out + i * 6; \
    o[0] = sub_group_shuffle(x, (l * 3 + 1) % W); o[1] = sub_group_shuffle_xor(x, 5); \
    int u = sub_group_shuffle_up(x, 2), d = sub_group_shuffle_down(x, 3); o[2] = l >= 2 ? u : -1; o[3] = l + 3 < W ? d : -1; \
    uint4 b = sub_group_ballot(x > 0); o[4] = (int)b.x; o[5] = sub_group_elect(); } \
__attribute__((intel_reqd_sub_group_size(W))) kernel void some_##W(global const int *a, global int *out) { \
    size_t i = get_global_id(0); int x = a[i], r = -1; \
    if (x & 1) { uint4 b = sub_group_ballot(1); r = (int)b.x; } else r = sub_group_reduce_add(x); \
    out[2 * i] = r; int s = 0; for (int k = 0; k < (x & 3); k++) s += sub_group_reduce_add(1); out[2 * i + 1] = s; } \
__attribute__((intel_reqd_sub_group_size(W))) kernel void float_##W(global const float *a, global const double *b, global float *out, global double *dout) { \
    size_t i = get_global_id(0); out[2 * i] = sub_group_reduce_add(a[i]); out[2 * i + 1] = sub_group_scan_inclusive_max(a[i]); \
    dout[2 * i] = sub_group_reduce_min(b[i]); dout[2 * i + 1] = sub_group_scan_exclusive_add(b[i]); } \
__attribute__((intel_reqd_sub_group_size(W))) kernel void with_barrier_##W(global const int *a, global int *out) { \
    local int part[64]; size_t i = get_global_id(0); int x = sub_group_scan_inclusive_add(a[i]); \
    if (get_sub_group_local_id() == get_sub_group_size() - 1) part[get_sub_group_id()] = x; barrier(CLK_LOCAL_MEM_FENCE); \
    for (uint k = 0; k < get_sub_group_id(); k++) x += part[k]; out[i] = x; }
KERNELS(8) KERNELS(16) KERNELS(32)
kernel void any_size(global const int *a, global int *out) {
    size_t i = get_global_id(0); int s = sub_group_reduce_add(a[i]); out[2 * i] = s; out[2 * i + 1] = get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id();
}
