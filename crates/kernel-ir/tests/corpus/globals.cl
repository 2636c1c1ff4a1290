// Constants and variables of program scope: tables, structures with pointers, counters that stay.
typedef struct { int a; constant int *p; float f[2]; } Entry;
constant int numbers[5] = { 2, 3, 5, 7, 11 };
constant short table[3][4] = { { 1, 2, 3, 4 }, { -1, -2, -3, -4 }, { 9, 8, 7, 6 } };
constant int more[3] = { 100, -50, 25 };
constant Entry entries[2] = { { 1, numbers + 2, { 0.5f, -2.0f } }, { -4, &more[1], { 1e30f, 3.0f } } };
constant float4 rows[2] = { (float4)(1, 2, 3, 4), (float4)(-1, 0.25f, 8, 1e-3f) };
global int counter = 5;
global ulong wide[4] = { 1, 2, 3, 0x123456789abcdef0UL };
global int zeros[8];
global int *global where = &counter;
kernel void read(global const int *a, global float *out) {
    size_t i = get_global_id(0); int k = a[i]; global float *o = out + i * 6;
    o[0] = numbers[k % 5]; o[1] = table[k % 3][k % 4]; o[2] = entries[k & 1].a; o[3] = entries[k & 1].p[1];
    o[4] = entries[k & 1].f[k >> 1 & 1]; o[5] = rows[k & 1].z + rows[(k + 1) & 1][k & 3];
}
kernel void count(global int *out) {
    atomic_add(&counter, 1); atomic_add(&zeros[get_global_id(0) % 8], 2); if (get_global_id(0) == 0) { wide[0] += 10; }
}
kernel void look(global long *out) {
    out[0] = counter; out[1] = *where; out[2] = wide[0]; out[3] = wide[3]; for (int k = 0; k < 8; k++) out[4 + k] = zeros[k]; out[12] = where == &counter;
}
