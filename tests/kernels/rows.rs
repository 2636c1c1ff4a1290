//! The sum of each row of a matrix: one work-item for a row.

#[sycl::kernel]
pub(crate) fn row_by_item(matrix: &[f32], sums: &mut [f32], width: u32) {
    let row = sycl::item::<1>().id() as u32;
    let mut sum = 0.0;
    for column in 0..width {
        sum += matrix[(row * width + column) as usize];
    }
    sums[row as usize] = sum;
}
