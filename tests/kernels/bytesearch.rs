//! Naive substring search: each work-item tests one start offset and stops early.

use sycl::{atomic, item};

#[sycl::kernel]
pub(crate) fn bytesearch(text: &[u8], pattern: &[u8], m: u32, count: &mut [u32], flags: &mut [u8]) {
    let i = item::<1>().id();
    let mut k = 0u32;
    while k < m && text[i + k as usize] == pattern[k as usize] {
        k += 1;
    }
    flags[i] = if k == m { 255 } else { k as u8 };
    if k == m {
        atomic::add(&mut count[0], 1);
    }
}
