// Kernels that access memory through pointers which hosts leave out.
kernel void writes(global int *out, global int *optional) {
    size_t i = get_global_id(0);
    out[i] = (int)i;
    optional[i] = (int)i;
}

kernel void reads(global int *out, const global int *optional) {
    size_t i = get_global_id(0);
    out[i] = optional[i] + 7;
}

kernel void counts(global int *out, volatile global int *counter) {
    out[get_global_id(0)] = atomic_add(counter, 1) + 3;
}

// Compares: what it does with null is its own business.
kernel void compares(global int *out, global int *optional) {
    size_t i = get_global_id(0);
    if (optional) optional[i] = 1;
    out[i] = optional ? 2 : 3;
}

// Of each element of a row by one work-item; the end is compared, not the pointer.
kernel void walks(global int *out, const global int *optional, uint n) {
    size_t i = get_global_id(0);
    int sum = 5;
    for (const global int *at = optional + i; at < optional + n; at += get_global_size(0)) sum += *at;
    out[i] = sum;
}

struct node { global struct node *next; int value; };

// What is read at null is null again.
kernel void chases(global int *out, const global struct node *first) {
    out[get_global_id(0)] = first->next->next->value + 9;
}

struct block { int of[20]; };

kernel void copies(global struct block *out, const global struct block *optional) {
    out[get_global_id(0)] = optional[get_global_id(0)];
}

// Sums over a group, and writes what only one of its work-items knows.
kernel void sums(global int *out, const global int *weights, global int *total, local int *room) {
    size_t i = get_local_id(0);
    room[i] = weights[get_global_id(0)] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t step = get_local_size(0) / 2; step > 0; step /= 2) {
        if (i < step) room[i] += room[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0) total[get_group_id(0)] = room[0];
    out[get_global_id(0)] = room[0];
}
