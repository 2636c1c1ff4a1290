//! `PartialOrd`, `Index` and `IndexMut` of the user's types.

#![forbid(unsafe_code)]

use std::cmp::Ordering;
use std::ops::{Index, IndexMut};

use sycl::kernel::for_each;
use sycl::{Device, Result, item};

use super::device::run;

#[derive(Clone, Copy, Device)]
#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

#[sycl::device]
impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

#[sycl::device]
impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.major.cmp(&other.major) {
            Ordering::Equal => self.minor.partial_cmp(&other.minor),
            order => Some(order),
        }
    }
}

/// Numbers that compare by their distance from zero.
#[derive(Clone, Copy, Device)]
#[repr(C)]
struct Size(f32);

#[sycl::device]
impl PartialEq<f32> for Size {
    fn eq(&self, other: &f32) -> bool {
        self.0.abs() == *other
    }
}

#[sycl::device]
impl PartialOrd<f32> for Size {
    fn partial_cmp(&self, other: &f32) -> Option<Ordering> {
        self.0.abs().partial_cmp(other)
    }
    fn lt(&self, other: &f32) -> bool {
        self.0.abs() < *other
    }
}

#[sycl::kernel]
fn compared(input: &[Version], output: &mut [u32]) {
    let i = item::<1>().id();
    let (a, b) = (input[i], input[(i + 1) % input.len()]);
    let mut all = (a < b) as u32;
    all = all * 2 + (a <= b) as u32;
    all = all * 2 + (a > b) as u32;
    let (left, right) = (&a, &b);
    all = all * 2 + (left >= right) as u32;
    all = all * 2 + (a == b) as u32;
    let size = Size(if i == 2 { f32::NAN } else { -(a.major as f32) });
    all = all * 2 + (size < 2.0) as u32;
    all = all * 2 + (size <= 2.0) as u32;
    all = all * 2 + (size > 1.0) as u32;
    all = all * 2 + (size >= 2.0) as u32;
    output[i] = all;
}

#[test]
fn comparisons_are_the_users() -> Result<()> {
    let version = |(major, minor)| Version { major, minor };
    let input = [(1, 2), (1, 2), (1, 3), (0, 9), (2, 0), (2, 0), (3, 1)].map(version);
    let mut host = vec![0; input.len()];
    for_each([input.len()], || compared(&input, &mut host));
    assert_eq!(run(compared, &input, &vec![0; input.len()])?, host);
    Ok(())
}

/// A matrix with two rows of three.
#[derive(Clone, Copy, Device)]
#[repr(C)]
struct Matrix {
    values: [f32; 6],
}

#[sycl::device]
impl Index<(usize, usize)> for Matrix {
    type Output = f32;
    fn index(&self, at: (usize, usize)) -> &f32 {
        &self.values[at.0 * 3 + at.1]
    }
}

#[sycl::device]
impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f32 {
        &mut self.values[row * 3 + column]
    }
}

#[sycl::device]
impl Index<u8> for Matrix {
    type Output = f32;
    fn index(&self, at: u8) -> &f32 {
        &self.values[at as usize]
    }
}

/// Where it is written is not where it is read.
#[derive(Clone, Copy, Device)]
#[repr(C)]
struct Twisted {
    values: [f32; 2],
}

#[sycl::device]
impl Index<usize> for Twisted {
    type Output = f32;
    fn index(&self, at: usize) -> &f32 {
        &self.values[at]
    }
}

#[sycl::device]
impl IndexMut<usize> for Twisted {
    fn index_mut(&mut self, at: usize) -> &mut f32 {
        &mut self.values[1 - at]
    }
}

#[sycl::kernel]
fn indexed(input: &[Matrix], output: &mut [Matrix]) {
    let i = item::<1>().id();
    let from = input[i];
    let mut own = from;
    for row in 0..2 {
        for column in 0..3 {
            own[(row, column)] = from[(1 - row, 2 - column)] * 2.0;
        }
    }
    own[(0, 1)] += from[5u8];
    let corner = &mut own[(1, 2)];
    *corner -= 0.5;
    output[i][(0, 0)] = own[(0, 1)];
    output[i].values[5] = own[5u8] + input[i][(1, 1)];
    let mut twisted = Twisted { values: [1.0, 2.0] };
    twisted[0] = own[1u8];
    twisted[1] *= 3.0;
    output[i][(0, 1)] = twisted[0];
    output[i][(0, 2)] = twisted[1];
}

#[test]
fn indices_are_the_users() -> Result<()> {
    let input: Vec<Matrix> = (0..5)
        .map(|i| Matrix {
            values: std::array::from_fn(|k| (i * 6 + k) as f32),
        })
        .collect();
    let mut host = input.clone();
    for_each([5], || indexed(&input, &mut host));
    let got = run(indexed, &input, &input)?;
    for (got, host) in got.iter().zip(&host) {
        assert_eq!(got.values, host.values);
    }
    Ok(())
}
