// The sum of each row of a matrix: one work-item for a row, and one sub-group for a row.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
kernel void row_by_item(global const float *matrix, global float *sums, int width)
{
    size_t row = get_global_id(0);
    float sum = 0;
    for (int column = 0; column < width; column++)
        sum += matrix[row * width + column];
    sums[row] = sum;
}
__attribute__((intel_reqd_sub_group_size(16)))
kernel void row_by_group(global const float *matrix, global float *sums, int width)
{
    size_t row = get_global_id(1), lane = get_sub_group_local_id();
    float sum = 0;
    for (int column = 0; column < width; column += 16)
        sum += matrix[row * width + column + lane];
    sum = sub_group_reduce_add(sum);
    if (lane == 0)
        sums[row] = sum;
}
