//! Private arrays: `pa_sort` indexes with loop counters, `pa_count` with run-time data.

use sycl::item;

#[sycl::kernel]
pub(crate) fn pa_sort(input: &[f32], output: &mut [f32]) {
    let (g, n) = (item::<1>().id(), item::<1>().range());
    let mut v = [0.0f32; 16];
    for i in 0..16 {
        v[i] = input[i * n + g];
    }
    for i in 1..16 {
        let x = v[i];
        let mut j = i;
        while j > 0 && v[j - 1] > x {
            v[j] = v[j - 1];
            j -= 1;
        }
        v[j] = x;
    }
    output[g] = v[7] + v[8];
    output[n + g] = v[15] - v[0];
}

#[sycl::kernel]
pub(crate) fn pa_count(input: &[u32], output: &mut [u32], words: u32) {
    let (g, n) = (item::<1>().id(), item::<1>().range());
    let mut counts = [0u32; 16];
    for w in 0..words as usize {
        let mut v = input[w * n + g];
        for _ in 0..8 {
            counts[(v & 15) as usize] += 1;
            v >>= 4;
        }
    }
    let (mut best, mut hash) = (0, 0u32);
    for count in counts {
        hash = hash.wrapping_mul(31).wrapping_add(count);
        best = best.max(count);
    }
    output[g] = hash ^ (best << 24);
}
