//! 5-point (2D) and 7-point (3D) stencils, boundary copied through.

use sycl::item;

#[sycl::kernel]
pub(crate) fn stencil2d(input: &[f32], output: &mut [f32], w: u32, h: u32, c0: f32, c1: f32) {
    let (w, h) = (w as usize, h as usize);
    let place = item::<2>().id();
    let (y, x) = (place[0], place[1]);
    let p = y * w + x;
    let here = input[p];
    output[p] = if x == 0 || y == 0 || x == w - 1 || y == h - 1 {
        here
    } else {
        let around = input[p - 1] + input[p + 1] + input[p - w] + input[p + w];
        c0.mul_add(here, c1 * around)
    };
}

#[sycl::kernel]
pub(crate) fn stencil3d(input: &[f32], output: &mut [f32], w: u32, h: u32, d: u32) {
    let (w, h, d) = (w as usize, h as usize, d as usize);
    let place = item::<3>().id();
    let (z, y, x) = (place[0], place[1], place[2]);
    let p = (z * h + y) * w + x;
    let here = input[p];
    output[p] = if x > 0 && y > 0 && z > 0 && x < w - 1 && y < h - 1 && z < d - 1 {
        let (row, plane) = (
            input[p - w] + input[p + w],
            input[p - w * h] + input[p + w * h],
        );
        let around = input[p - 1] + input[p + 1] + row + plane;
        0.4f32.mul_add(here, 0.1 * around)
    } else {
        here
    };
}
