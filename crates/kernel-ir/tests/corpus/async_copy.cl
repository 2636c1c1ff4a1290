// Asynchronous work-group copies, plain and strided, one event for several.
kernel void copies(global const int *in, global const int *far, global int *out, local int *t, local int *u, int n) {
    size_t g = get_group_id(0) * n, l = get_local_id(0), groups = get_num_groups(0);
    event_t e = async_work_group_copy(t, in + g, n, 0);
    e = async_work_group_strided_copy(u, far + get_group_id(0), n, groups, e); wait_group_events(1, &e);
    int x = t[n - 1 - l] * 100 + u[l]; barrier(CLK_LOCAL_MEM_FENCE); t[l] = x; u[l] = -x; barrier(CLK_LOCAL_MEM_FENCE);
    e = async_work_group_copy(out + g, t, n, e); e = async_work_group_strided_copy(out + n * groups + get_group_id(0), u, n, groups, e);
    wait_group_events(1, &e);
}
