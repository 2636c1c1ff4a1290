//! y = A*x with loads of four numbers, one row per work-item (rows are far apart in memory).

#[sycl::kernel]
pub(crate) fn matvec4(a: &[[f32; 4]], x: &[[f32; 4]], y: &mut [f32], n4: u32) {
    let r = sycl::item::<1>().id();
    let n4 = n4 as usize;
    let (mut s0, mut s1, mut s2, mut s3) = (0.0, 0.0, 0.0, 0.0);
    for k in 0..n4 {
        let (row, column) = (a[r * n4 + k], x[k]);
        s0 = row[0].mul_add(column[0], s0);
        s1 = row[1].mul_add(column[1], s1);
        s2 = row[2].mul_add(column[2], s2);
        s3 = row[3].mul_add(column[3], s3);
    }
    y[r] = s0 + s1 + s2 + s3;
}
