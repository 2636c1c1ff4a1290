// Built-in functions of Intel's graphics compiler, declared as programs declare them.
uint __builtin_IB_lsc_load_global_uchar_to_uint(const global uchar *base, int offset, int cache);
uint __builtin_IB_lsc_load_global_ushort_to_uint(const global ushort *base, int offset, int cache);
uint __builtin_IB_lsc_load_global_uint(const global uint *base, int offset, int cache);
uint3 __builtin_IB_lsc_load_global_uint3(const global uint3 *base, int offset, int cache);
uint8 __builtin_IB_lsc_load_global_uint8(const global uint8 *base, int offset, int cache);
ulong2 __builtin_IB_lsc_load_global_ulong2(const global ulong2 *base, int offset, int cache);
uint2 __builtin_IB_lsc_load_local_uint2(const local uint2 *base, int offset);
void __builtin_IB_lsc_store_global_uchar_from_uint(global uchar *base, int offset, uint value, int cache);
void __builtin_IB_lsc_store_global_ushort_from_uint(global ushort *base, int offset, uint value, int cache);
void __builtin_IB_lsc_store_global_uint(global uint *base, int offset, uint value, int cache);
void __builtin_IB_lsc_store_global_uint3(global uint3 *base, int offset, uint3 value, int cache);
void __builtin_IB_lsc_store_global_uint8(global uint8 *base, int offset, uint8 value, int cache);
void __builtin_IB_lsc_store_global_ulong2(global ulong2 *base, int offset, ulong2 value, int cache);
void __builtin_IB_lsc_store_local_uint2(local uint2 *base, int offset, uint2 value);
void __builtin_IB_lsc_prefetch_global_uint4(const global uint4 *base, int offset, int cache);
void __builtin_IB_lsc_simd_block_prefetch_ushort8(const global ushort *base, int cache);
void __builtin_IB_lsc_fence_local(void);
void __builtin_IB_lsc_fence_global_untyped(int scope, int kind);
void __builtin_IB_lsc_fence_evict_to_memory(void);
void __builtin_IB_assume_uniform(void *p);
// 24 words for each work-item; memory is read up to 16 words behind its own.
kernel void cached(global const uint *in, global uint *out, local uint2 *tile) {
    int i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    global uint *to = out + 24 * i;
    __builtin_IB_lsc_prefetch_global_uint4((global const uint4 *)in, 1, 4);
    __builtin_IB_lsc_simd_block_prefetch_ushort8((global const ushort *)in, 4);
    __builtin_IB_lsc_store_global_uint(to, 0, __builtin_IB_lsc_load_global_uint(in + i, 1, 2), 1);
    __builtin_IB_lsc_store_global_uchar_from_uint((global uchar *)(to + 1), 1, __builtin_IB_lsc_load_global_uchar_to_uint((global const uchar *)(in + i), 3, 0), 0);
    __builtin_IB_lsc_store_global_ushort_from_uint((global ushort *)(to + 2), 1, 0x70000 + __builtin_IB_lsc_load_global_ushort_to_uint((global const ushort *)(in + i), 1, 0), 0);
    // Vectors of three components lie without padding.
    __builtin_IB_lsc_store_global_uint3((global uint3 *)(to + 3), 1, __builtin_IB_lsc_load_global_uint3((global const uint3 *)(in + i), 2, 0), 0);
    __builtin_IB_lsc_store_global_uint8((global uint8 *)(to + 9), 0, __builtin_IB_lsc_load_global_uint8((global const uint8 *)(in + i), 1, 0), 7);
    __builtin_IB_lsc_store_global_ulong2((global ulong2 *)(to + 22), -1, __builtin_IB_lsc_load_global_ulong2((global const ulong2 *)(in + 4 * (i & 3)), 0, 0), 0);
    __builtin_IB_lsc_store_local_uint2(tile + l, 0, (uint2)(in[i], i));
    __builtin_IB_lsc_fence_local();
    barrier(CLK_LOCAL_MEM_FENCE);
    uint2 other = __builtin_IB_lsc_load_local_uint2(tile + (l + 1) % n, 0);
    to[22] = other.x;
    to[23] = other.y;
    __builtin_IB_assume_uniform(out);
    __builtin_IB_lsc_fence_global_untyped(2, 0);
    __builtin_IB_lsc_fence_evict_to_memory();
}

uint __builtin_IB_lsc_atomic_inc_global_uint(volatile global uint *base, int offset, int cache);
uint __builtin_IB_lsc_atomic_sub_global_uint(volatile global uint *base, int offset, uint value, int cache);
int __builtin_IB_lsc_atomic_min_global_int(volatile global int *base, int offset, int value, int cache);
uint __builtin_IB_lsc_atomic_max_global_uint(volatile global uint *base, int offset, uint value, int cache);
uint __builtin_IB_lsc_atomic_add_global_ushort_from_uint(volatile global ushort *base, int offset, uint value, int cache);
ulong __builtin_IB_lsc_atomic_xor_global_ulong(volatile global ulong *base, int offset, ulong value, int cache);
float __builtin_IB_lsc_atomic_sub_global_float(volatile global float *base, int offset, float value, int cache);
uint __builtin_IB_lsc_atomic_or_local_uint(volatile local uint *base, int offset, uint value);
float __builtin_IB_atomic_add_global_f32(global float *p, float value);
float __builtin_IB_atomic_max_global_f32(global float *p, float value);
int __builtin_IB_atomic_dec_global_i32(global int *p);
kernel void counted(global uint *counters, global float *floats, global ulong *wide, local uint *bits) {
    int i = get_global_id(0), l = get_local_id(0);
    if (l == 0) *bits = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    __builtin_IB_lsc_atomic_inc_global_uint(counters, 0, 0);
    __builtin_IB_lsc_atomic_sub_global_uint(counters + 1, 0, i, 0);
    __builtin_IB_lsc_atomic_min_global_int((global int *)counters + 2, 0, 5 - i, 1);
    __builtin_IB_lsc_atomic_max_global_uint(counters + 3, 0, i * 3, 0);
    __builtin_IB_lsc_atomic_add_global_ushort_from_uint((global ushort *)(counters + 4), 0, 0x10001, 0);
    __builtin_IB_atomic_dec_global_i32((global int *)counters + 5);
    __builtin_IB_lsc_atomic_xor_global_ulong(wide, 0, 1ul << (i + 20), 0);
    __builtin_IB_lsc_atomic_sub_global_float(floats, 0, 0.5f, 0);
    __builtin_IB_atomic_add_global_f32(floats + 1, i);
    __builtin_IB_atomic_max_global_f32(floats + 2, i * 0.25f);
    __builtin_IB_lsc_atomic_or_local_uint(bits, 0, 1u << l);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) counters[6 + get_group_id(0)] = *bits;
}
uint __builtin_IB_lsc_atomic_cmpxchg_global_uint(volatile global uint *base, int offset, uint expected, uint value, int cache);
uint __builtin_IB_lsc_atomic_cmpxchg_local_ushort_from_uint(volatile local ushort *base, int offset, uint expected, uint value);
int __builtin_IB_lsc_atomic_min_local_short_from_int(volatile local short *base, int offset, int value);
uint __builtin_IB_lsc_atomic_load_global_uint(volatile global uint *base, int offset, int cache);
uint __builtin_IB_lsc_atomic_store_global_uint(volatile global uint *base, int offset, uint value, int cache);
float __builtin_IB_atomic_cmpxchg_global_f32(global float *p, float expected, float value);
long __builtin_IB_atomic_xchg_global_i64(global long *p, long value);
// One work-item: what was there before.
kernel void old_values(global uint *words, global float *f, global long *wide, global uint *out, local ushort *narrow) {
    out[0] = __builtin_IB_lsc_atomic_cmpxchg_global_uint(words, 0, 7, 9, 0);
    out[1] = __builtin_IB_lsc_atomic_cmpxchg_global_uint(words + 1, 0, 8, 9, 0);
    out[2] = __builtin_IB_lsc_atomic_load_global_uint(words, 0, 0);
    out[3] = __builtin_IB_lsc_atomic_store_global_uint(words + 2, 0, 11, 0);
    out[4] = (uint)__builtin_IB_atomic_cmpxchg_global_f32(f, 1.5f, 2.5f);
    out[5] = (uint)__builtin_IB_atomic_xchg_global_i64(wide, -4);
    *narrow = 0xfffe;
    out[6] = __builtin_IB_lsc_atomic_cmpxchg_local_ushort_from_uint(narrow, 0, 0xfffe, 0xfffd);
    out[7] = __builtin_IB_lsc_atomic_min_local_short_from_int((volatile local short *)narrow, 0, -9);
    out[8] = *narrow;
}

uint4 __builtin_IB_simd_block_read_4_global(const global uint *p);
ushort16 __builtin_IB_simd_block_read_16_global_h(const global ushort *p);
ulong2 __builtin_IB_cache_controls_simd_block_read_2_global_l(const global ulong *p, uint cache);
void __builtin_IB_simd_block_write_2_global(global uint *p, uint2 value);
uchar __builtin_IB_simd_block_read_1_local_b(const local uchar *p);
kernel __attribute__((intel_reqd_sub_group_size(16)))
void rows(global const uint *in, global uint *out, local uchar *tile) {
    uint l = get_sub_group_local_id(), n = get_max_sub_group_size();
    tile[get_local_id(0)] = in[get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint4 a = __builtin_IB_simd_block_read_4_global(in);
    ushort16 b = __builtin_IB_simd_block_read_16_global_h((global const ushort *)in);
    ulong2 c = __builtin_IB_cache_controls_simd_block_read_2_global_l((global const ulong *)in, 0);
    uchar d = __builtin_IB_simd_block_read_1_local_b(tile);
    out[l] = a.s3 * 3 + b.s5 * 5 + (uint)c.s1 * 7 + d;
    __builtin_IB_simd_block_write_2_global(out + n, a.s12);
}

ushort8 __builtin_IB_subgroup_block_read_flat_u16_m8k16v1(long base, int width, int height, int pitch, int2 at);
ushort16 __builtin_IB_subgroup_block_read_flat_u16_m8k16v2(long base, int width, int height, int pitch, int2 at);
ushort8 __builtin_IB_subgroup_block_read_flat_u8_m8k32v1(long base, int width, int height, int pitch, int2 at);
ushort2 __builtin_IB_subgroup_block_read_flat_u8_m1k32v2(long base, int width, int height, int pitch, int2 at);
uint4 __builtin_IB_subgroup_block_read_cacheopts_u32_m4k8v2(long base, int width, int height, int pitch, int2 at, int cache);
uint8 __builtin_IB_subgroup_block_read_flat_transpose_u32_k8(long base, int width, int height, int pitch, int2 at);
uint4 __builtin_IB_subgroup_block_read_cacheopts_transpose_u32_m8k8(long base, int width, int height, int pitch, int2 at, int cache);
ushort4 __builtin_IB_subgroup_block_read_cacheopts_transpose_u8_m32k4(long base, int width, int height, int pitch, int2 at, int cache);
ulong4 __builtin_IB_subgroup_block_read_flat_transpose_u64_k4(long base, int width, int height, int pitch, int2 at);
uint8 __builtin_IB_subgroup_block_read_flat_transform_u8_k32(long base, int width, int height, int pitch, int2 at);
uint16 __builtin_IB_subgroup_block_read_flat_transform_u16_k16v2(long base, int width, int height, int pitch, int2 at);
void __builtin_IB_subgroup_block_read_prefetch_u16_m8k16v2(long base, int width, int height, int pitch, int2 at, int cache);
void __builtin_IB_subgroup_block_write_flat_u16_m8k16v1(long base, int width, int height, int pitch, int2 at, ushort8 value);
void __builtin_IB_subgroup_block_write_cacheopts_u8_m4k32v1(long base, int width, int height, int pitch, int2 at, ushort4 value, int cache);
#define SURFACE (long)in, width - 1, height - 1, pitch - 1, (int2)(x, y)
// Bytes of each component side by side for the 16 work-items; each block begins at a multiple of 1024 bytes.
kernel __attribute__((intel_reqd_sub_group_size(16)))
void blocks(global const uchar *in, int width, int height, int pitch, int x, int y, global uchar *out) {
    uint l = get_sub_group_local_id();
    global ushort *s = (global ushort *)out + l;
    global uint *u = (global uint *)out + l;
    global ulong *w = (global ulong *)out + l;
    __builtin_IB_subgroup_block_read_prefetch_u16_m8k16v2(SURFACE, 4);
    ushort8 a = __builtin_IB_subgroup_block_read_flat_u16_m8k16v1(SURFACE);
    ushort16 b = __builtin_IB_subgroup_block_read_flat_u16_m8k16v2(SURFACE);
    ushort8 c = __builtin_IB_subgroup_block_read_flat_u8_m8k32v1(SURFACE);
    ushort2 d = __builtin_IB_subgroup_block_read_flat_u8_m1k32v2(SURFACE);
    uint4 e = __builtin_IB_subgroup_block_read_cacheopts_u32_m4k8v2(SURFACE, 4);
    uint8 f = __builtin_IB_subgroup_block_read_flat_transpose_u32_k8(SURFACE);
    uint4 g = __builtin_IB_subgroup_block_read_cacheopts_transpose_u32_m8k8(SURFACE, 4);
    ushort4 h = __builtin_IB_subgroup_block_read_cacheopts_transpose_u8_m32k4(SURFACE, 4);
    ulong4 i = __builtin_IB_subgroup_block_read_flat_transpose_u64_k4(SURFACE);
    uint8 j = __builtin_IB_subgroup_block_read_flat_transform_u8_k32(SURFACE);
    uint16 k = __builtin_IB_subgroup_block_read_flat_transform_u16_k16v2(SURFACE);
    for (int n = 0; n < 16; n++) {
        s[512 + 16 * n] = b[n];
        u[2560 + 16 * n] = k[n];
    }
    for (int n = 0; n < 8; n++) {
        s[16 * n] = a[n];
        s[1024 + 16 * n] = c[n];
        u[1280 + 16 * n] = f[n];
        u[2304 + 16 * n] = j[n];
    }
    for (int n = 0; n < 4; n++) {
        u[1024 + 16 * n] = e[n];
        u[1536 + 16 * n] = g[n];
        s[3584 + 16 * n] = h[n];
        w[1024 + 16 * n] = i[n];
    }
    s[1536] = d.x;
    s[1552] = d.y;
}
kernel __attribute__((intel_reqd_sub_group_size(16)))
void written(global uchar *in, int width, int height, int pitch, int x, int y) {
    ushort first = get_sub_group_local_id() + 1;
    ushort8 value = (ushort8)(0, 1, 2, 3, 4, 5, 6, 7) * (ushort)256 + first;
    __builtin_IB_subgroup_block_write_flat_u16_m8k16v1(SURFACE, value);
    __builtin_IB_subgroup_block_write_cacheopts_u8_m4k32v1((long)in, width - 1, height - 1, pitch - 1, (int2)(x + 8, y + 9), value.lo, 7);
}

short __builtin_IB_ftobf_1(float x);
short4 __builtin_IB_ftobf_4(float4 x);
float2 __builtin_IB_bftof_2(short2 x);
int __builtin_IB_dp4a_ss(int sum, int a, int b, bool saturated);
int __builtin_IB_dp4a_su(int sum, int a, int b, bool saturated);
int __builtin_IB_dp4a_us(int sum, int a, int b, bool saturated);
int __builtin_IB_dp4a_uu(int sum, int a, int b, bool saturated);
kernel void numbers(global const float4 *f, global const int4 *in, global short4 *bf, global float2 *back, global int *out) {
    int i = get_global_id(0);
    short4 four = __builtin_IB_ftobf_4(f[i]);
    four.x = __builtin_IB_ftobf_1(f[i].x);
    bf[i] = four;
    back[i] = __builtin_IB_bftof_2(four.yz);
    int4 v = in[i];
    out[5 * i] = __builtin_IB_dp4a_ss(v.z, v.x, v.y, false);
    out[5 * i + 1] = __builtin_IB_dp4a_su(v.z, v.x, v.y, v.w & 1);
    out[5 * i + 2] = __builtin_IB_dp4a_us(v.z, v.x, v.y, true);
    out[5 * i + 3] = __builtin_IB_dp4a_uu(v.z, v.x, v.y, v.w & 1);
    out[5 * i + 4] = __builtin_IB_dp4a_ss(v.z, v.x, v.y, true);
}
