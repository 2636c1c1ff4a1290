//! 5x5 filter over RGBA bytes with clamped borders.

use sycl::item;

#[sycl::kernel]
pub(crate) fn conv5x5(input: &[[u8; 4]], output: &mut [[u8; 4]], weights: &[f32], w: i32, h: i32) {
    let place = item::<2>().id();
    let (y, x) = (place[0], place[1]);
    let (x, y) = (x as i32, y as i32);
    let (mut r, mut g, mut b, mut a) = (0.5, 0.5, 0.5, 0.5);
    for j in -2..=2 {
        for i in -2..=2 {
            let (xx, yy) = ((x + i).clamp(0, w - 1), (y + j).clamp(0, h - 1));
            let weight = weights[((j + 2) * 5 + i + 2) as usize];
            let pixel = input[(yy * w + xx) as usize];
            r = weight.mul_add(pixel[0] as f32, r);
            g = weight.mul_add(pixel[1] as f32, g);
            b = weight.mul_add(pixel[2] as f32, b);
            a = weight.mul_add(pixel[3] as f32, a);
        }
    }
    output[(y * w + x) as usize] = [r as u8, g as u8, b as u8, a as u8];
}
