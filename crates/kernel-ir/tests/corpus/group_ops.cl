// Work-group reductions, scans, broadcasts and votes.
#define OPS(T) \
kernel void ops_##T(global const T *a, global T *out) { \
    size_t i = get_global_id(0); T x = a[i]; global T *o = out + i * 10; \
    o[0] = work_group_reduce_add(x); o[1] = work_group_reduce_min(x); o[2] = work_group_reduce_max(x); \
    o[3] = work_group_scan_inclusive_add(x); o[4] = work_group_scan_exclusive_add(x); \
    o[5] = work_group_scan_inclusive_min(x); o[6] = work_group_scan_inclusive_max(x); \
    o[7] = work_group_scan_exclusive_min(x); o[8] = work_group_scan_exclusive_max(x); \
    o[9] = work_group_broadcast(x, get_local_size(0) / 2); }
OPS(int) OPS(uint) OPS(long) OPS(ulong) OPS(float) OPS(double)
kernel void votes(global const int *a, global int *out) {
    size_t i = get_global_id(0); int x = a[i]; out[2 * i] = work_group_all(x > 0); out[2 * i + 1] = work_group_any(x > 90);
}
kernel void broadcast3(global const int *a, global int *out) {
    size_t i = get_global_linear_id(); out[2 * i] = work_group_broadcast(a[i], 1, 0); out[2 * i + 1] = work_group_broadcast(a[i], 2, 1);
}
kernel void in_a_loop(global const int *a, global int *out, int n) {
    int s = 0; for (int k = 0; k < n; k++) { int t = work_group_reduce_add(a[get_global_id(0)] + k * (int)get_local_id(0)); s += t ^ k; } out[get_global_id(0)] = s;
}
