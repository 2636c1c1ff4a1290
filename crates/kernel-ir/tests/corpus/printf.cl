// printf: integers of every size, floats, vectors, strings, no arguments, its result.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void report(int mode, int x, float f, global const long *a, global int *out) {
    size_t i = get_global_id(0);
    if (mode == 1) { printf("item %d has %ld\n", (int)i, a[i & 1]); return; }
    if (i != 0) return;
    printf("plain\n"); printf("%d %u %x|%5d|%-5d|%05d\n", x, (uint)x, x, 42, 42, -42); printf("%ld %lx %hd %hhd\n", a[0], a[1], (short)x, (char)x);
    out[0] = printf("%f %e %g %.2f\n", f, f, f, f); printf("%s and %c%%\n", "a string", 'z');
    printf("%v4d|%v2hlf|%v3hhx\n", (int4)(1, -2, 3, 4), (float2)(0.5f, -1.0f), (uchar3)(255, 16, 1));
}
