//! Images: sampling, reads and writes of whole pixels, a separable blur, a resize.

use sycl::{ReadImage, Sampler, WriteImage, f32x4, item, u32x4};

/// Turns the picture by an angle whose cosine and sine are `c` and `s`.
#[sycl::kernel]
pub(crate) fn img_turn(
    from: ReadImage<f32x4, 2>,
    to: WriteImage<f32x4, 2>,
    how: Sampler,
    c: f32,
    s: f32,
) {
    let (at, range) = (item::<2>().id(), to.range());
    let x = (at[1] as u32 as f32 + 0.5) / range[1] as u32 as f32 - 0.5;
    let y = (at[0] as u32 as f32 + 0.5) / range[0] as u32 as f32 - 0.5;
    let (u, v) = (c.mul_add(x, -s * y) + 0.5, s.mul_add(x, c * y) + 0.5);
    to.write(at, from.sample(how, [v, u]));
}

#[sycl::kernel]
pub(crate) fn img_pixels(from: ReadImage<f32x4, 2>, to: WriteImage<f32x4, 2>) {
    let at = item::<2>().id();
    to.write(at, 1.0 - from.read(at));
}

#[sycl::kernel]
pub(crate) fn img_pixels_u(from: ReadImage<u32x4, 2>, to: WriteImage<u32x4, 2>) {
    let at = item::<2>().id();
    to.write(at, 255 - from.read(at));
}

/// One direction of a separable blur of 9 taps; pixels at the edge continue outside.
#[sycl::kernel]
pub(crate) fn img_blur(
    from: ReadImage<f32x4, 2>,
    to: WriteImage<f32x4, 2>,
    weight: &[f32],
    dx: i32,
    dy: i32,
) {
    let (at, range) = (item::<2>().id(), from.range());
    let mut sum = f32x4::splat(0.0);
    for k in -4..5i32 {
        let y = (at[0] as i32 + k * dy).clamp(0, range[0] as i32 - 1);
        let x = (at[1] as i32 + k * dx).clamp(0, range[1] as i32 - 1);
        let pixel = from.read([y as usize, x as usize]);
        sum = pixel.mul_add(f32x4::splat(weight[(k + 4) as usize]), sum);
    }
    to.write(at, sum);
}

/// A picture of another size.
#[sycl::kernel]
pub(crate) fn img_resize(from: ReadImage<f32x4, 2>, to: WriteImage<f32x4, 2>, how: Sampler) {
    let (at, range) = (item::<2>().id(), to.range());
    let v = (at[0] as u32 as f32 + 0.5) / range[0] as u32 as f32;
    let u = (at[1] as u32 as f32 + 0.5) / range[1] as u32 as f32;
    to.write(at, from.sample(how, [v, u]));
}
