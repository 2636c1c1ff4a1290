//! Errors of types and names, which the compiler finds.
use sycl::{item, kernel};

#[kernel]
fn mixed(x: &[f32], y: &mut [i32]) {
    y[0] = y[0] + x[0];
}
#[kernel]
fn wrong_store(x: &[f32], y: &mut [i32]) {
    y[0] = x[0];
}
#[kernel]
fn wrong_index(i: u32, y: &mut [i32]) {
    y[i] = 1;
}
#[kernel]
fn no_condition(y: &mut [i32]) {
    if y[0] {}
}
#[kernel]
fn unlike_branches(y: &mut [i32]) {
    let x = if y[0] > 1 { 1.0 } else { 2 };
}
#[kernel]
fn read_only(x: &[i32]) {
    x[0] = 1;
}
#[kernel]
fn immutable(x: &mut [i32]) {
    let a = 1;
    a += 1;
}
fn on_the_host(x: i32) -> i32 {
    x
}
#[kernel]
fn not_device(y: &mut [i32]) {
    y[0] = on_the_host(1);
}
#[kernel]
fn no_method(y: &mut [i32]) {
    y[0] = y[0].digits();
}
#[kernel]
fn no_member(y: &mut [i32]) {
    y[0] = (1, 2).2;
}
#[kernel]
fn unknown(y: &mut [i32]) {
    y[0] = missing;
}
#[kernel]
fn unsized_parameter(names: String, y: &mut [i32]) {}
struct Plain {
    a: u32,
}
#[kernel]
fn missing_device(p: Plain, y: &mut [u32]) {}
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
struct Padded {
    a: u8,
    b: u32,
}
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
struct Holds {
    a: bool,
}
#[kernel]
fn inexhaustive(y: &mut [i32]) {
    match y[0] {
        1 => {}
    }
}
#[kernel]
fn atomic_byte(y: &mut [u8]) {
    sycl::atomic::add(&mut y[0], 1);
}
#[derive(Clone, Copy, sycl::Device)]
struct InsideOnly {
    a: u32,
}
#[kernel]
fn enum_in_buffer(y: &mut [Choice]) {
    y[0] = Choice::A;
}
#[derive(Clone, Copy, PartialEq, sycl::Device)]
enum Choice {
    A,
    B(u32),
}
#[kernel]
fn missing_variant(y: &mut [u32]) {
    if let Choice::C = Choice::B(y[0]) {}
}
#[kernel]
fn wrong_payload(y: &mut [u32]) {
    if let Choice::B(value) = Choice::A {
        y[0] = value * 1.0;
    }
}
#[kernel]
fn not_all_variants(y: &mut [u32]) {
    match Choice::A {
        Choice::B(1) => {}
        Choice::A => {}
    }
}
#[sycl::device]
fn apply(f: impl Fn(f32) -> f32, x: f32) -> f32 {
    f(x)
}
#[kernel]
fn wrong_closure(y: &mut [f32]) {
    y[0] = apply(|x| x as u32, 1.0);
}
#[kernel]
fn refutable(y: &mut [u32]) {
    let Choice::B(value) = Choice::A;
}
fn launched(q: &sycl::Queue) -> sycl::Result<()> {
    let b = sycl::Buffer::from_slice(&[InsideOnly { a: 1 }], [1])?;
    Ok(())
}
#[kernel]
fn unsafe_needed(y: &mut [u32]) {
    *y.get_unchecked_mut(0) = 1;
}
