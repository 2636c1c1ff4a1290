//! Traits, generic structures, and operators of structures.

#![forbid(unsafe_code)]
#![expect(
    clippy::op_ref,
    clippy::suspicious_arithmetic_impl,
    reason = "operators of references, and one that calls another, are what is tested"
)]

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use sycl::kernel::{KernelType, for_each};
use sycl::{Result, item};

use super::device::run;

#[derive(Clone, Copy, Debug, sycl::Device)]
#[repr(C)]
struct Vector<T> {
    x: T,
    y: T,
}

#[sycl::device]
impl<T: KernelType + Copy + Add<Output = T>> Add for Vector<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
        }
    }
}

#[sycl::device]
impl Mul<f32> for Vector<f32> {
    type Output = Self;
    fn mul(self, by: f32) -> Self {
        Self {
            x: self.x * by,
            y: self.y * by,
        }
    }
}

#[sycl::device]
impl Mul<Vector<f32>> for f32 {
    type Output = Vector<f32>;
    fn mul(self, by: Vector<f32>) -> Vector<f32> {
        by * self
    }
}

#[sycl::device]
impl Sub<&Vector<f32>> for &Vector<f32> {
    type Output = Vector<f32>;
    fn sub(self, other: &Vector<f32>) -> Vector<f32> {
        Vector {
            x: self.x - other.x,
            y: self.y - other.y,
        }
    }
}

#[sycl::device]
impl AddAssign for Vector<f32> {
    fn add_assign(&mut self, other: Self) {
        self.x += other.x;
        self.y += other.y;
    }
}

#[sycl::device]
impl Neg for Vector<f32> {
    type Output = Self;
    fn neg(self) -> Self {
        if self.x == 0.0 {
            return self;
        }
        Self {
            x: -self.x,
            y: -self.y,
        }
    }
}

#[sycl::device]
impl PartialEq for Vector<f32> {
    fn eq(&self, other: &Self) -> bool {
        self.x == other.x
    }
}

#[sycl::device]
impl<T> Vector<T> {
    fn swapped(self) -> Self
    where
        T: Copy + KernelType,
    {
        Self {
            x: self.y,
            y: self.x,
        }
    }

    fn larger<'a>(&'a self, other: &'a Self, first: bool) -> &'a Self {
        if first { self } else { other }
    }
}

#[sycl::device]
trait Shape {
    const SIDES: u32;
    fn area(&self) -> f32;
    fn double(&self) -> f32 {
        self.area() * 2.0
    }
    fn scale(&mut self, by: f32);
    fn unit() -> Self;
}

#[derive(Clone, Copy, sycl::Device)]
struct Square(f32);

#[derive(Clone, Copy, sycl::Device)]
struct Rectangle {
    a: f32,
    b: f32,
}

#[sycl::device]
impl Shape for Square {
    const SIDES: u32 = 1;
    fn area(&self) -> f32 {
        self.0 * self.0
    }
    fn scale(&mut self, by: f32) {
        self.0 *= by;
    }
    fn unit() -> Self {
        Square(1.0)
    }
}

#[sycl::device]
impl Shape for Rectangle {
    const SIDES: u32 = 2;
    fn area(&self) -> f32 {
        self.a * self.b
    }
    fn double(&self) -> f32 {
        self.area() + self.area() + 1.0
    }
    fn scale(&mut self, by: f32) {
        self.a *= by;
        self.b += by;
    }
    fn unit() -> Self {
        Rectangle { a: 1.0, b: 2.0 }
    }
}

#[sycl::device]
fn total<S: Shape + Copy>(mut shape: S, by: f32) -> f32 {
    shape.scale(by);
    shape.area() + shape.double() * 3.0 + S::SIDES as f32 + S::unit().area()
}

#[sycl::device]
fn sum<T: Add<Output = T> + Copy>(a: T, b: T) -> T {
    a + b + a
}

#[sycl::kernel]
fn geometry(input: &[f32], output: &mut [f32]) {
    let i = item::<1>().id();
    let n = input[i];
    let (a, b) = (Vector { x: n, y: 2.0 }, Vector { x: 0.5, y: n * n });
    let mut c = sum(a + b * 3.0, 2.0 * a) + -b;
    c += a;
    let d = &c - &b;
    let whole = sum(Vector { x: i, y: 2 }, Vector { x: 1, y: i }).swapped();
    let mut all = d.x * 10.0 + d.y + whole.x as f32 - whole.y as f32;
    all += a.larger(&b, n > 3.0).y;
    if a == b {
        all += 1000.0;
    }
    if &a != &c {
        all += 2000.0;
    }
    output[i] = all + total(Square(n), 2.0) + total(Rectangle { a: n, b: 1.0 }, 0.5);
}

#[test]
fn traits_and_operators_are_those_of_rust() -> Result<()> {
    let input: Vec<f32> = (0..40u8).map(|i| f32::from(i) * 0.5).collect();
    let mut host = vec![0.0; 40];
    for_each([40], || geometry(&input, &mut host));
    assert_eq!(run(geometry, &input, &[0.0; 40])?, host);
    Ok(())
}

#[derive(Clone, Copy, sycl::Device)]
struct Unmarked(f32);
impl Add for Unmarked {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
/// Calls an operator that is marked, with other operands.
impl Sub for Unmarked {
    type Output = Vector<f32>;
    fn sub(self, other: Self) -> Vector<f32> {
        Vector { x: other.0, y: 0.0 } + Vector { x: self.0, y: 0.0 }
    }
}

#[sycl::kernel]
fn unmarked(output: &mut [f32]) {
    output[0] = (Unmarked(1.0) + Unmarked(2.0)).0;
}
#[sycl::kernel]
fn forwarding(output: &mut [f32]) {
    output[0] = (Unmarked(1.0) - Unmarked(2.0)).x;
}

#[test]
fn an_operator_that_is_not_marked_is_refused() {
    for result in [
        sycl::kernel::spirv(&unmarked),
        sycl::kernel::spirv(&forwarding),
    ] {
        let error = result.expect_err("the operator runs on the host only");
        let text = error.to_string();
        assert!(
            text.contains("Unmarked") && text.contains("#[sycl::device]"),
            "{text}"
        );
    }
}

#[sycl::kernel]
fn in_buffers(input: &[Vector<i32>], output: &mut [Vector<i32>]) {
    let i = item::<1>().id();
    output[i] = sum(input[i], Vector { x: 1, y: 2 });
}

#[test]
fn generic_structures_lie_in_buffers() -> Result<()> {
    let input: Vec<Vector<i32>> = (0..9).map(|i| Vector { x: i, y: -i }).collect();
    let mut host = input.clone();
    for_each([9], || in_buffers(&input, &mut host));
    let got = run(in_buffers, &input, &input)?;
    let same = got.iter().zip(&host).all(|(a, b)| a.x == b.x && a.y == b.y);
    assert!(same, "{got:?} and {host:?}");
    Ok(())
}
