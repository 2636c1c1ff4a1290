// Kernels of the tests and benchmarks; kernels/build.sh compiles them.
kernel void add_one(global int *a) { a[get_global_id(0)] += 1; }
kernel void add(global const int *a, global const int *b, global int *c)
{
    size_t i = get_global_id(0);
    c[i] = a[i] + b[i];
}
kernel void set(global int *a, int value) { a[get_global_id(0)] = value; }
kernel void set_from(global int *a, ulong first, int value) { a[first + get_global_id(0)] = value; }
kernel void copy(global const int *from, global int *to) { to[get_global_id(0)] = from[get_global_id(0)]; }
kernel void copy_from(global const int *from, global int *to, ulong first)
{
    size_t i = first + get_global_id(0);
    to[i] = from[i];
}
// Where an argument points.
kernel void address(global ulong *out, global int *p, ulong at) { out[at] = (ulong)p; }
// Ends when both kernels of a pair have begun, or never.
kernel void meet(global int *flags, int mine, int other)
{
    global atomic_int *at = (global atomic_int *)flags;
    __opencl_atomic_store(&at[mine], 1, __ATOMIC_SEQ_CST, __OPENCL_MEMORY_SCOPE_DEVICE);
    while (__opencl_atomic_load(&at[other], __ATOMIC_SEQ_CST, __OPENCL_MEMORY_SCOPE_DEVICE) == 0) {}
}
kernel void reverse(global int *a, local int *part)
{
    size_t n = get_local_size(0), l = get_local_id(0), base = get_group_id(0) * n;
    part[l] = a[base + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    a[base + l] = part[n - 1 - l];
}
// One element of a box: rows and planes by pitches, for tests of page grids.
kernel void stamp(global uint *a, ulong x0, ulong y0, ulong z0, ulong row, ulong plane, uint value)
{
    size_t z = get_global_id(0) + z0, y = get_global_id(1) + y0, x = get_global_id(2) + x0;
    size_t at = x * plane + y * row + z;
    a[at] = value * 2654435761u + (uint)at;
}
// Adds up differences from what is expected.
kernel void check(global const uint *a, global const uint *expected, global atomic_uint *wrong,
                  ulong x0, ulong y0, ulong z0, ulong row, ulong plane)
{
    size_t z = get_global_id(0) + z0, y = get_global_id(1) + y0, x = get_global_id(2) + x0;
    size_t at = x * plane + y * row + z;
    if (a[at] != expected[at]) __opencl_atomic_fetch_add(wrong, 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
kernel void store(global int *a) { a[0] = 34; }
// The larger of two partners, for reductions by a kernel.
kernel void larger(global int *a, ulong count, ulong distance)
{
    size_t i = get_global_id(0), other = i + distance;
    if (other < count && a[other] > a[i]) a[i] = a[other];
}
