//! Groups exchange narrow numbers, truth values and vectors.

#![forbid(unsafe_code)]

use sycl::kernel::{GroupValue, KernelType, for_each_group};
use sycl::{DeviceData, NdRange, Result, f32x3, group, i16x8, item, sub_group, u8x2};

use super::device::grouped;

#[sycl::kernel(sub_group_size = 16)]
fn exchanges<T: GroupValue + KernelType + DeviceData>(input: &[T], output: &mut [[T; 6]]) {
    let i = item::<1>().id();
    let (x, team, lanes) = (input[i], group(), sub_group());
    let own = lanes.local_id();
    output[i] = [
        team.broadcast(x, 17),
        lanes.broadcast(x, 3),
        lanes.shuffle(x, 15 - own),
        lanes.shuffle_xor(x, 5),
        lanes.shuffle_up(x, own.min(2)),
        lanes.shuffle_down(x, if own < 13 { 3 } else { 0 }),
    ];
}

fn check<T>(from: impl Fn(u32) -> T) -> Result<()>
where
    T: GroupValue + DeviceData + PartialEq + std::fmt::Debug,
{
    let input: Vec<T> = (0..64u32)
        .map(|i| from(i.wrapping_mul(0x9e37_79b9)))
        .collect();
    let zero = vec![[input[0]; 6]; 64];
    let mut host = zero.clone();
    let kernel = exchanges::kernel::<T>();
    for_each_group(NdRange::new([64], [32]), kernel, (&input, &mut host))?;
    assert_eq!(grouped(kernel, &input, &zero, 64, Some(32))?, host);
    Ok(())
}

#[test]
fn narrow_numbers_and_vectors_are_exchanged() -> Result<()> {
    check(|i| (i >> 7) as u8)?;
    check(|i| (i >> 7) as i8)?;
    check(|i| (i >> 7) as u16)?;
    check(|i| (i >> 7) as i16)?;
    check(|i| u64::from(i) << 20)?;
    check(|i| f64::from(i) / 3.0)?;
    check(|i| u8x2::new((i >> 3) as u8, (i >> 11) as u8))?;
    check(|i| f32x3::new(i as f32, 1.0 / i as f32, 0.5))?;
    check(|i| i16x8::from_array(std::array::from_fn(|k| (i >> k) as i16)))
}

#[sycl::kernel(sub_group_size = 16)]
fn truths(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let odd = input[i] & 1 == 1;
    let lanes = sub_group();
    output[i] = lanes.shuffle_xor(odd, 3) as u32 + 2 * lanes.broadcast(odd, 5) as u32;
}

#[test]
fn truth_values_are_exchanged() -> Result<()> {
    let input: Vec<u32> = (0..32).map(|i| i * 7919 % 97).collect();
    let mut host = vec![0; 32];
    for_each_group(NdRange::new([32], [32]), truths, (&input, &mut host))?;
    assert_eq!(grouped(truths, &input, &[0; 32], 32, Some(32))?, host);
    Ok(())
}
