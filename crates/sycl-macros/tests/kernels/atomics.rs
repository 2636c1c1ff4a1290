//! Work-groups: local memory, barriers, atomics.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Result, atomic, barrier, item, local};

use super::device::{grouped, run};

#[sycl::kernel]
fn histogram(input: &[u32], counts: &mut [u32]) {
    let i = item::<1>().id();
    let mut at = i;
    while at < input.len() {
        let bin = (input[at] % counts.len() as u32) as usize;
        atomic::add(&mut counts[bin], 1);
        at += item::<1>().range();
    }
}

#[sycl::kernel]
fn extremes(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    atomic::min(&mut output[0], input[i]);
    atomic::max(&mut output[1], input[i]);
    atomic::xor(&mut output[2], input[i]);
    atomic::sub(&mut output[3], input[i]);
}

#[test]
fn atomics_count_every_work_item() -> Result<()> {
    let input: Vec<u32> = (0..1000).map(|i| i * 7919 % 1009).collect();
    let mut host = vec![0; 16];
    for_each([16], || histogram(&input, &mut host));
    assert_eq!(host.iter().sum::<u32>(), 1000);
    assert_eq!(run(histogram, &input, &[0; 16])?, host);
    let input: Vec<i32> = (0..64).map(|i| i * 31 % 53 - 20).collect();
    let mut host = vec![0; 64];
    for_each([64], || extremes(&input, &mut host));
    assert_eq!(run(extremes, &input, &[0; 64])?, host);
    Ok(())
}

/// Sums of the work-groups' elements.
#[sycl::kernel]
fn sums(input: &[i32], output: &mut [i32]) {
    let it = item::<1>();
    let (i, lane, size) = (it.id(), it.local_id(), it.local_range());
    let mut tile = local::<[i32; 64]>();
    tile[lane] = input[i];
    barrier();
    let mut half = size / 2;
    while half > 0 {
        if lane < half {
            tile[lane] += tile[lane + half];
        }
        barrier();
        half /= 2;
    }
    if lane == 0 {
        output[it.group_id()] = tile[0];
    }
}

#[test]
fn local_memory_is_shared_in_a_work_group() -> Result<()> {
    let input: Vec<i32> = (0..256).map(|i| i * i % 1000).collect();
    for group in [1, 2, 16, 64] {
        let groups = 256 / group;
        let want: Vec<i32> = input
            .chunks(group)
            .map(|chunk| chunk.iter().sum())
            .collect();
        assert_eq!(
            grouped(sums, &input, &vec![0; groups], 256, Some(group))?,
            want
        );
    }
    Ok(())
}
