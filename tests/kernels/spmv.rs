//! CSR, one row per work-item: irregular trip counts and gathers.

#[sycl::kernel]
pub(crate) fn spmv(rows: &[u32], columns: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
    let r = sycl::item::<1>().id();
    let mut sum = 0.0;
    for k in rows[r] as usize..rows[r + 1] as usize {
        sum = values[k].mul_add(x[columns[k] as usize], sum);
    }
    y[r] = sum;
}
