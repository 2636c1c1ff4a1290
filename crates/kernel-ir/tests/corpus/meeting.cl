// Work-items that part and meet: barriers in calls, switches and nested loops, loops that end by a vote,
// sub-group operations in divergent loops and switches, returns before them.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__attribute__((noinline)) int pass_on(local int *t, int l, int n, int v) {
    t[l] = v; barrier(CLK_LOCAL_MEM_FENCE); int r = t[(l + 1) % n]; barrier(CLK_LOCAL_MEM_FENCE); return r;
}
kernel void in_calls(global const int *a, global int *out, local int *t, int turns) {
    int l = get_local_id(0), n = get_local_size(0), v = a[get_global_id(0)], s = 0;
    for (int k = 0; k < turns; k++) { v = pass_on(t, l, n, v + k); s = s * 2 + v; if (k == 3) v = pass_on(t, l, n, -v); }
    out[get_global_id(0)] = s;
}
kernel void in_switch(global const int *mode, global int *out, local int *t) {
    int l = get_local_id(0), n = get_local_size(0), m = mode[get_group_id(0)], r = l * 3; t[l] = l;
    switch (m) {
    case 0: break;
    case 1: barrier(CLK_LOCAL_MEM_FENCE); r += t[n - 1 - l];
    case 2: barrier(CLK_LOCAL_MEM_FENCE); t[l] = r; barrier(CLK_LOCAL_MEM_FENCE); r = t[(l + 2) % n] + 1; break;
    default: for (int k = 0; k < m; k++) { barrier(CLK_LOCAL_MEM_FENCE); if (k == 5) break; r += t[(l + k) % n]; }
    }
    out[get_global_id(0)] = r;
}
kernel void nested(global const int *a, global int *out, local int *t, int limit) {
    int l = get_local_id(0), n = get_local_size(0), keep[4] = { l, 2 * l, 3 * l, 4 * l }, s = 0;
    for (int i = 0; i < limit; i++) {
        int mine = a[get_global_id(0)] + i;
        for (int j = 0; j <= i; j++) {
            t[l] = mine * (j + 1); barrier(CLK_LOCAL_MEM_FENCE); int got = t[(l + i + j) % n]; barrier(CLK_LOCAL_MEM_FENCE);
            if (j == 2) break; if ((i + j) & 1) continue; keep[(l + j) & 3] += got; s ^= got;
        }
    }
    out[get_global_id(0)] = s + keep[0] + keep[1] * 3 + keep[2] * 5 + keep[3] * 7;
}
kernel void by_vote(global const int *a, global int *out) {
    int x = a[get_global_id(0)], turns = 0, s = 0;
    while (work_group_any(x > 0)) { turns++; if (x > 0) { s += x; x -= 3; } }
    out[2 * get_global_id(0)] = turns; out[2 * get_global_id(0) + 1] = s;
}
kernel void ping_pong(global const float *a, global float *out, local float *t, int turns) {
    int l = get_local_id(0), n = get_local_size(0), from = 0; t[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
    do {
        float left = t[from + (l + n - 1) % n], right = t[from + (l + 1) % n]; from = n - from; t[from + l] = (left + right) * 0.5f;
        barrier(CLK_LOCAL_MEM_FENCE);
    } while (--turns > 0);
    out[get_global_id(0)] = t[from + l];
}
__attribute__((intel_reqd_sub_group_size(8))) kernel void lane_vote(global const int *a, global int *out) {
    int x = a[get_global_id(0)], turns = 0; while (sub_group_any(x > 0)) { turns++; x -= 2; } out[get_global_id(0)] = turns * 100 + x;
}
__attribute__((intel_reqd_sub_group_size(8))) kernel void lane_switch(global const int *a, global int *out) {
    int x = a[get_global_id(0)], r;
    switch (x & 3) { case 0: r = sub_group_reduce_add(x); break; case 1: r = sub_group_reduce_max(x); break; case 2: r = sub_group_scan_inclusive_add(x) * 10; break; default: r = -x; }
    out[2 * get_global_id(0)] = r; out[2 * get_global_id(0) + 1] = sub_group_reduce_add(r & 15);
}
__attribute__((intel_reqd_sub_group_size(8))) kernel void lane_loops(global const int *a, global int *out) {
    int x = a[get_global_id(0)], s = 0;
    for (int i = 0; i < (x & 7); i++) {
        if ((x + i) % 3 == 0) continue;
        s += sub_group_reduce_add(1) * 10 + sub_group_scan_exclusive_add(i + 1);
        if (i == 4 && (x & 8)) break;
    }
    out[get_global_id(0)] = s + sub_group_reduce_min(s);
}
__attribute__((intel_reqd_sub_group_size(8))) kernel void lane_return(global const int *a, global int *out, int n) {
    int i = get_global_id(0), x = a[i]; out[i] = -1; if (i >= n || x < 0) return;
    int s = sub_group_reduce_add(x); if (x > 50) { out[i] = s + sub_group_reduce_min(x); return; } out[i] = s - sub_group_reduce_max(x);
}
__attribute__((intel_reqd_sub_group_size(16))) kernel void both(global const int *a, global int *out, local int *t) {
    int l = get_local_id(0), n = get_local_size(0), s = 0;
    for (int k = 0; k < 3; k++) {
        t[l] = a[get_global_id(0)] + k; barrier(CLK_LOCAL_MEM_FENCE); int v = t[(l + 5) % n]; barrier(CLK_LOCAL_MEM_FENCE);
        if (v & 1) s += sub_group_reduce_add(v); else s -= sub_group_reduce_max(v); s += work_group_reduce_max(v);
    }
    out[get_global_id(0)] = s;
}
