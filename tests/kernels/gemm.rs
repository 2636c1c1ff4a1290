//! C = A*B, square, row major.

use sycl::{barrier, item, local};

#[sycl::kernel]
pub fn gemm_naive(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    let n = n as usize;
    let place = item::<2>().id();
    let (i, j) = (place[0], place[1]);
    let mut sum = 0.0;
    for k in 0..n {
        sum = a[i * n + k].mul_add(b[k * n + j], sum);
    }
    c[i * n + j] = sum;
}

const T: usize = 16;

#[sycl::kernel]
pub fn gemm_tiled(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    let (mut ta, mut tb) = (local::<[[f32; T]; T]>(), local::<[[f32; T]; T]>());
    let n = n as usize;
    let local = item::<2>().local_id();
    let (ly, lx) = (local[0], local[1]);
    let place = item::<2>().id();
    let (i, j) = (place[0], place[1]);
    let mut sum = 0.0;
    for t in (0..n).step_by(T) {
        ta[ly][lx] = a[i * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + j];
        barrier();
        for k in 0..T {
            sum = ta[ly][k].mul_add(tb[k][lx], sum);
        }
        barrier();
    }
    c[i * n + j] = sum;
}
