//! Hits inside the unit circle, one xorshift32 stream per work-item.

/// The next number of the stream.
#[sycl::device]
fn next(state: &mut u32) -> f32 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    (*state >> 8) as f32 * 5.960_464_5e-8
}

#[sycl::kernel]
pub(crate) fn mc_pi(seed: &[u32], hits: &mut [i32], rounds: i32) {
    let i = sycl::item::<1>().id();
    let mut state = seed[i];
    let mut count = 0;
    for _ in 0..rounds {
        let x = next(&mut state);
        let y = next(&mut state);
        if x.mul_add(x, y * y) <= 1.0 {
            count += 1;
        }
    }
    hits[i] = count;
}
