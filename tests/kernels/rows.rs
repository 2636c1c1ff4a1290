//! The sum of each row of a matrix: one work-item for a row, and one sub-group for a row.

#[sycl::kernel]
pub(crate) fn row_by_item(matrix: &[f32], sums: &mut [f32], width: u32) {
    let (row, width) = (sycl::item::<1>().id(), width as usize);
    let mut sum = 0.0;
    for column in 0..width {
        sum += matrix[row * width + column];
    }
    sums[row] = sum;
}

#[sycl::kernel(sub_group_size = 16)]
pub(crate) fn row_by_group(matrix: &[f32], sums: &mut [f32], width: u32) {
    let (row, width) = (sycl::item::<2>().id()[0], width as usize);
    let lanes = sycl::sub_group();
    let lane = lanes.local_id();
    let mut sum = 0.0;
    for part in 0..width / 16 {
        sum += matrix[row * width + part * 16 + lane];
    }
    sum = lanes.reduce_add(sum);
    if lane == 0 {
        sums[row] = sum;
    }
}
