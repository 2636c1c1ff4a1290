//! C = A*B, square, row major.

use sycl::{barrier, item, local};

#[sycl::kernel]
pub(crate) fn gemm_naive(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    let (place, n) = (item::<2>().id(), n as usize);
    let (i, j) = (place[0], place[1]);
    let mut sum = 0.0;
    for k in 0..n {
        sum = a[i * n + k].mul_add(b[k * n + j], sum);
    }
    c[i * n + j] = sum;
}

/// The width of a tile.
const T: usize = 16;

#[sycl::kernel]
pub(crate) fn gemm_tiled(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {
    let (mut ta, mut tb) = (local::<[[f32; T]; T]>(), local::<[[f32; T]; T]>());
    let own = item::<2>().local_id();
    let (ly, lx) = (own[0], own[1]);
    let (place, n) = (item::<2>().id(), n as usize);
    let (i, j) = (place[0], place[1]);
    let mut sum = 0.0;
    for tile in 0..n / T {
        let t = tile * T;
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
