//! The sum of each row of a matrix: one work-item for a row, and one sub-group for a row.

#[sycl::kernel]
pub(crate) fn row_by_item(matrix: &[f32], sums: &mut [f32], width: u32) {
    let row = sycl::item::<1>().id() as u32;
    let mut sum = 0.0;
    for column in 0..width {
        sum += matrix[(row * width + column) as usize];
    }
    sums[row as usize] = sum;
}

#[sycl::kernel(sub_group_size = 16)]
pub(crate) fn row_by_group(matrix: &[f32], sums: &mut [f32], width: u32) {
    let (row, lanes) = (sycl::item::<2>().id()[0] as u32, sycl::sub_group());
    let lane = lanes.local_id() as u32;
    let mut sum = 0.0;
    for column in (0..width).step_by(16) {
        sum += matrix[(row * width + column + lane) as usize];
    }
    sum = lanes.reduce_add(sum);
    if lane == 0 {
        sums[row as usize] = sum;
    }
}
