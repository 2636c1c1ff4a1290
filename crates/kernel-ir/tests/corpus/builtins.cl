// Each work-item's place, in three dimensions, with a global offset.
kernel void places(global ulong *out) {
    size_t i = (get_global_id(2) - get_global_offset(2)) * get_global_size(1) * get_global_size(0)
        + (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) - get_global_offset(0);
    global ulong *o = out + i * 32;
    for (uint d = 0; d < 3; d++) {
        o[d] = get_global_id(d); o[3 + d] = get_local_id(d); o[6 + d] = get_group_id(d); o[9 + d] = get_global_size(d);
        o[12 + d] = get_local_size(d); o[15 + d] = get_num_groups(d); o[18 + d] = get_global_offset(d); o[21 + d] = get_enqueued_local_size(d);
    }
    o[24] = get_global_linear_id(); o[25] = get_local_linear_id(); o[26] = get_work_dim();
    o[27] = get_global_id(3); o[28] = get_local_size(7); o[29] = get_num_groups(3); o[30] = get_global_offset(4);
    o[31] = get_global_id(0) + 10 * get_local_id(1) + 100 * get_group_id(2);
}
