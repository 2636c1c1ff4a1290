// Kernels that end with a fault in one work-item, or in none: `at` is the global id of the one.
// What C's assert calls, in DPC++'s form and in C's own.
void __devicelib_assert_fail(const __generic char *expression, const __generic char *file, int line,
                             const __generic char *function, ulong gx, ulong gy, ulong gz, ulong lx, ulong ly, ulong lz);
void __assert_fail(const __generic char *expression, const __generic char *file, uint line, const __generic char *function);

global const char EXPRESSION[] = "id != at";
global const char FILE_NAME[] = "faults.cl";
global const char FUNCTION[] = "asserts";
global const char OTHER[] = "asserts_in_c";

kernel void traps(global int *out, ulong at) {
    if (get_global_id(0) == at) __builtin_trap();
    out[get_global_id(0)] += 1;
}

kernel void traps_in_loop(global int *out, ulong at) {
    int sum = 0;
    for (ulong i = 0; i < 4 + get_global_id(0) % 4; i++) {
        if (get_global_id(0) == at && i == 3) __builtin_trap();
        sum += out[get_global_id(0)] + (int)i;
    }
    out[get_global_id(0)] = sum;
}

kernel void traps_at_barrier(global int *out, ulong at, local int *room) {
    room[get_local_id(0)] = out[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_global_id(0) == at) __builtin_trap();
    out[get_global_id(0)] = room[get_local_size(0) - 1 - get_local_id(0)] + 1;
}

kernel void asserts(global int *out, ulong at) {
    if (get_global_id(0) == at)
        __devicelib_assert_fail(EXPRESSION, FILE_NAME, 35, FUNCTION, get_global_id(0), get_global_id(1), get_global_id(2),
                                get_local_id(0), get_local_id(1), get_local_id(2));
    out[get_global_id(0)] += 1;
}

kernel void asserts_in_c(global int *out, ulong at) {
    if (get_global_id(0) == at) __assert_fail(EXPRESSION, FILE_NAME, 41, OTHER);
    out[get_global_id(0)] += 1;
}

kernel void pokes(global int *out, ulong at, ulong address) {
    if (get_global_id(0) == at) *(volatile global int *)address = 1;
    out[get_global_id(0)] += 1;
}

kernel void spins(global int *out, ulong at) {
    if (get_global_id(0) == at)
        while (((volatile global int *)out)[0] != 77) {}
    out[get_global_id(0)] += 1;
}
