//! One step of diffusion on a torus: neighbours by remainder, and by a frame of copied cells around the grid.

use sycl::item;

#[sycl::kernel]
pub(crate) fn wrap_remainder(input: &[f32], output: &mut [f32], width: u32, height: u32) {
    let place = item::<2>().id();
    let (y, x) = (place[0], place[1]);
    let (x, y) = (x as u32, y as u32);
    let (left, right) = ((x + width - 1) % width, (x + 1) % width);
    let (up, down) = ((y + height - 1) % height, (y + 1) % height);
    let row = input[(y * width + left) as usize] + input[(y * width + right) as usize];
    let around = row + input[(up * width + x) as usize] + input[(down * width + x) as usize];
    let at = (y * width + x) as usize;
    output[at] = 0.6f32.mul_add(input[at], 0.1 * around);
}

#[sycl::kernel]
pub(crate) fn wrap_frame(input: &[f32], output: &mut [f32], width: u32, height: u32) {
    let place = item::<2>().id();
    let (y, x) = (place[0], place[1]);
    let (pitch, height) = (width as usize + 2, height as usize);
    if y < height {
        let at = (y + 1) * pitch + x + 1;
        let around = input[at - 1] + input[at + 1] + input[at - pitch] + input[at + pitch];
        output[at] = 0.6f32.mul_add(input[at], 0.1 * around);
    }
}
