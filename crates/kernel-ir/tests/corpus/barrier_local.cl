// Barriers and local memory: variables and arguments, barriers in loops and branches, values that live across.
kernel void reverse(global const int *a, global int *out) {
    local int t[64]; size_t l = get_local_id(0), n = get_local_size(0);
    t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); out[get_global_id(0)] = t[n - 1 - l];
}
kernel void tree_sum(global const float *a, global float *out, local float *t) {
    size_t l = get_local_id(0); t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = get_local_size(0) / 2; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }
    if (l == 0) out[get_group_id(0)] = t[0];
}
kernel void scan(global const int *a, global int *out, local int *t, local int *u) {
    size_t l = get_local_id(0), n = get_local_size(0); t[l] = a[get_global_id(0)]; local int *from = t, *to = u; int kept = t[l];
    for (size_t d = 1; d < n; d <<= 1) { barrier(CLK_LOCAL_MEM_FENCE); to[l] = from[l] + (l >= d ? from[l - d] : 0); local int *x = from; from = to; to = x; }
    out[2 * get_global_id(0)] = from[l]; out[2 * get_global_id(0) + 1] = kept;
}
kernel void tiles(global const float *a, global const float *b, global float *c, int n) {
    local float ta[4][4], tb[4][4]; int x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1); float s = 0;
    for (int t = 0; t < n; t += 4) {
        ta[y][x] = a[gy * n + t + x]; tb[y][x] = b[(t + y) * n + gx]; barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 4; k++) s += ta[y][k] * tb[k][x]; barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[gy * n + gx] = s;
}
kernel void uniform_branch(global const int *a, global int *out) {
    local int t[32]; int l = get_local_id(0), n = get_local_size(0), mode = a[get_group_id(0)], r = l;
    if (mode == 1) { t[l] = l * 2; barrier(CLK_LOCAL_MEM_FENCE); r += t[(l + 1) % n]; }
    else if (mode > 1) for (int k = 0; k < mode; k++) { t[l] = r; barrier(CLK_LOCAL_MEM_FENCE); r = t[(l + k) % n] + 1; barrier(CLK_LOCAL_MEM_FENCE); }
    out[get_global_id(0)] = r;
}
kernel void early_out(global const int *a, global int *out, int n) { // work-items past the end do not return before the barrier
    local int t[32]; int l = get_local_id(0), g = get_global_id(0); t[l] = g < n ? a[g] : 0; int priv[3] = { l, l + 1, l + 2 };
    barrier(CLK_LOCAL_MEM_FENCE); if (g >= n) return; priv[l % 3] += t[(l + 1) % 32]; out[g] = priv[0] + priv[1] * 10 + priv[2] * 100;
}
__attribute__((reqd_work_group_size(4, 2, 2))) kernel void required(global int *out) {
    local int count; if (get_local_linear_id() == 0) count = 0; barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&count, (int)get_local_linear_id()); barrier(CLK_LOCAL_MEM_FENCE); out[get_global_linear_id()] = count + (int)get_local_size(1);
}
kernel void global_fence(global int *a, global int *out) {
    size_t g = get_global_id(0), l = get_local_id(0), n = get_local_size(0), base = g - l; a[g] = (int)g * 5;
    barrier(CLK_GLOBAL_MEM_FENCE); out[g] = a[base + (l + 1) % n];
}
