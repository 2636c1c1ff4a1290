// Functions of OpenCL C that clang's SPIR-V back end leaves as imports, or writes as no other translator does.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
// Not OpenCL C's, but programs for Intel's compiler import them.
float global_min(volatile global float *p, float value) __asm("_Z10atomic_minPU3AS1Vff");
float local_max(volatile local float *p, float value) __asm("_Z10atomic_maxPU3AS3Vff");

kernel void legacy(global int *i, global uint *u, global long *l, global float *f, local int *tile, local float *tops, global float *out) {
    int x = (int)get_global_id(0) - 5;
    if (get_local_id(0) == 0) { tile[0] = 100; tile[1] = 0; *tops = -1.0f; }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_min(i, x);
    atomic_max(i + 1, x);
    atomic_inc(i + 2);
    atomic_dec(i + 3);
    atom_min(i + 4, 3 - x);
    atomic_min(u, (uint)x);
    atomic_max(u + 1, (uint)x);
    atom_max(u + 2, (uint)(x & 7));
    atom_inc(u + 3);
    atom_min(l, (long)x << 33);
    atom_max((global ulong *)l + 1, (ulong)x);
    atom_dec(l + 2);
    global_min(f, x * 0.5f);
    atomic_min(tile, x);
    atom_inc(tile + 1);
    local_max(tops, x * 0.25f);
    mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    read_mem_fence(CLK_LOCAL_MEM_FENCE);
    write_mem_fence(CLK_GLOBAL_MEM_FENCE);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_device);
    if (get_local_id(0) == 0) {
        out[3 * get_group_id(0)] = tile[0];
        out[3 * get_group_id(0) + 1] = tile[1];
        out[3 * get_group_id(0) + 2] = *tops;
    }
}
// One work-item: what was there before.
kernel void old_values(global int *i, global float *f, global long *l, local uint *tile, local float *ftile, global float *out) {
    tile[0] = 20;
    *ftile = 1.25f;
    out[0] = atomic_xchg(i, 7);
    out[1] = atomic_xchg(f, 7.5f);
    out[2] = atom_xchg(l, 9l);
    out[3] = atomic_xchg(tile, 21u);
    out[4] = atom_xchg(tile, 22u);
    out[5] = atomic_xchg(ftile, 2.5f);
    out[6] = atomic_min(i + 1, 4);
    out[7] = atom_max(i + 1, 40);
    out[8] = *tile;
    out[9] = *ftile;
    out[10] = atomic_inc(i + 1);
    out[11] = atom_dec(i + 1);
}
// Through pointers that may lead anywhere; the exchange of floats compares bits.
kernel void c11(global int *i, global float *f, global uint *out, local int *tile) {
    int l = get_local_id(0);
    if (l == 0) *tile = 50;
    barrier(CLK_LOCAL_MEM_FENCE);
    volatile atomic_int *p = (volatile atomic_int *)(l & 1 ? (int *)i : (int *)tile);
    atomic_fetch_min(p, 20 - l);
    atomic_fetch_max_explicit((volatile atomic_int *)(int *)(i + 1), l, memory_order_relaxed, memory_scope_device);
    atomic_fetch_max((volatile atomic_uint *)(uint *)(i + 2), (uint)-l);
    float expected = 1.5f;
    bool done = atomic_compare_exchange_strong((volatile global atomic_float *)f, &expected, 2.5f);
    if (!done) atomic_fetch_min((volatile atomic_int *)(int *)(i + 3), (int)expected);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        out[0] = *tile;
        out[1] = get_fence((int *)tile);
        out[2] = get_fence((int *)i);
    }
}
// Votes look at sign bits; scalars stand for vectors.
kernel void votes(global const int4 *in, global int *out) {
    int i = get_global_id(0);
    int4 v = in[i];
    global int *to = out + 8 * i;
    to[0] = any(v);
    to[1] = all(v);
    to[2] = any(v.xyz);
    to[3] = all(v.zw);
    to[4] = any(convert_char4(v)) * 2 + all(convert_char4(v));
    to[5] = any((long2)(v.x, v.y) << 31) * 2 + all((long2)(v.x, v.y) << 31);
    to[6] = any(v.x) * 2 + all(v.y);
    to[7] = any(v < 0) * 2 + all(isgreater(convert_float4(v), (float4)(-3.0f)));
}
kernel void mixed(global const float4 *in, global const int4 *in2, global float4 *f, global int4 *n) {
    int i = get_global_id(0), k = in2[i].x;
    float4 v = in[i];
    float s = v.w;
    f[8 * i] = ldexp(v, k & 7);
    f[8 * i + 1] = fmin(v, s);
    f[8 * i + 2] = fmax(v, s);
    f[8 * i + 3] = clamp(v, -s, s + 1.0f);
    f[8 * i + 4] = mix(v, v.wzyx, 0.25f);
    f[8 * i + 5] = step(s, v);
    f[8 * i + 6] = max(v, s);
    f[8 * i + 7] = (float4)(ldexp(v.xyz, k & 3), 0);
    n[3 * i] = min(in2[i], k);
    n[3 * i + 1] = max(in2[i], k);
    n[3 * i + 2] = clamp(in2[i], -9, 9);
}
kernel void half_texels(read_only image2d_t image, sampler_t sampler, global half *out, global int *order) {
    int x = get_global_id(0), y = get_global_id(1);
    int at = y * get_global_size(0) + x;
    vstore4(read_imageh(image, (int2)(x, y)), at, out);
    if (at == 0) *order = get_image_channel_order(image);
    half4 sampled = read_imageh(image, sampler, (int2)(x, y));
    if (any(isnotequal(sampled, read_imageh(image, (int2)(x, y))))) *order = -1;
}
