// Atomics of 32 and 64 bits on global, local and generic memory, with orders and scopes.
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void all32(global int *s, global uint *u, global const int *in) {
    int x = in[get_global_id(0)];
    atomic_add(s, x); atomic_sub(s + 1, x); atomic_and(s + 2, x);
    atomic_or(s + 3, x); atomic_xor(s + 4, x); atomic_add(u, (uint)x); atomic_xor(u + 1, (uint)x);
}
kernel void all64(global long *s, global ulong *u, global const long *in) {
    long x = in[get_global_id(0)];
    atom_add(s, x); atom_sub(s + 1, x); atom_and(s + 2, x);
    atom_or(s + 3, x); atom_xor(s + 4, x); atom_add(u, (ulong)x); atom_or(u + 1, (ulong)x);
}
kernel void old_values(global int *counter, global int *taken) { // each ticket is given once
    int t = atomic_add(counter, 1); atomic_add(taken + t, 1);
}
kernel void exchange(global atomic_int *slot, global int *sum, global atomic_float *fslot) { // values are passed on, none is lost
    int old = atomic_exchange(slot, (int)get_global_id(0) + 1); atomic_add(sum, old);
    if (get_global_id(0) == 0) { ((global float *)fslot)[1] = atomic_exchange(fslot, 2.5f); }
}
kernel void cas_loop(global uint *bits, global const float *in) { // a float sum by compare and exchange
    float x = in[get_global_id(0)]; uint old = *bits, seen;
    while ((seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + x))) != old) old = seen;
}
kernel void in_local(global const uchar *in, global int *out, local int *bins) {
    size_t l = get_local_id(0); bins[l] = 0; barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 4; k++) atomic_add(bins + in[get_global_id(0) * 4 + k] % get_local_size(0), 1);
    barrier(CLK_LOCAL_MEM_FENCE); if (bins[l]) atomic_add(out + l, bins[l]);
}
kernel void c11(global atomic_int *a, global atomic_uint *u, global atomic_long *l, global int *out) {
    int x = (int)get_global_id(0) + 1;
    atomic_fetch_add(a, x); atomic_fetch_sub_explicit(a + 1, x, memory_order_relaxed);
    atomic_fetch_or_explicit(a + 2, 1 << (x & 15), memory_order_acq_rel, memory_scope_device);
    atomic_fetch_xor_explicit(a + 3, x, memory_order_seq_cst, memory_scope_all_svm_devices);
    atomic_fetch_and_explicit(a + 4, ~x, memory_order_release, memory_scope_device);
    atomic_fetch_sub_explicit(a + 5, x, memory_order_acquire, memory_scope_work_group); atomic_fetch_or(u, (uint)x);
    atomic_fetch_add(l, 1L << 33);
    if (x == 1) { out[0] = atomic_load_explicit(a + 6, memory_order_acquire); atomic_store_explicit(a + 7, 42, memory_order_release);
        out[1] = atomic_exchange(a + 8, 5); int e = 17; out[2] = atomic_compare_exchange_strong(a + 9, &e, 18); out[3] = e;
        e = 99; out[4] = atomic_compare_exchange_strong(a + 9, &e, 77); out[5] = e; }
}
kernel void on_generic(global int *g, local int *l, global int *out) {
    int i = (int)get_local_id(0); if (i == 0) *l = 0; barrier(CLK_LOCAL_MEM_FENCE);
    atomic_int *p = i & 1 ? (atomic_int *)g : (atomic_int *)l; atomic_fetch_add_explicit(p, i, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); if (i == 0) out[get_group_id(0)] = *l;
}
kernel void publish(global int *data, global atomic_int *flag, global int *out) { // the last to arrive sums up
    size_t i = get_global_id(0); data[i] = (int)i * 3; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    int n = atomic_fetch_add_explicit(flag, 1, memory_order_acq_rel, memory_scope_device);
    if (n + 1 == (int)get_global_size(0)) { atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device); int s = 0; for (int k = 0; k <= n; k++) s += data[k]; *out = s; }
}
