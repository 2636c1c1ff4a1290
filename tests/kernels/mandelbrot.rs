//! Escape-time loop whose trip count differs per lane.

#[sycl::kernel]
pub(crate) fn mandelbrot(output: &mut [i32], w: u32, x0: f32, y0: f32, step: f32, most: i32) {
    let place = sycl::item::<2>().id();
    let (py, px) = (place[0], place[1]);
    let (cx, cy) = ((px as f32).mul_add(step, x0), (py as f32).mul_add(step, y0));
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut count = 0;
    while count < most && x.mul_add(x, y * y) < 4.0 {
        let t = x.mul_add(x, -(y * y)) + cx;
        y = (2.0 * x).mul_add(y, cy);
        x = t;
        count += 1;
    }
    output[py * w as usize + px] = count;
}
