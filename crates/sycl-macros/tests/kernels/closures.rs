//! Closures, and device functions as values.

#![forbid(unsafe_code)]

use sycl::kernel::{KernelType, for_each};
use sycl::{Result, item};

use super::device::run;

#[sycl::device]
fn twice(f: impl Fn(f32) -> f32, x: f32) -> f32 {
    f(f(x))
}

#[sycl::device]
fn fold<T: KernelType + Copy, F>(values: &[T], first: T, f: &F) -> T
where
    F: Fn(T, T) -> T,
{
    let mut all = first;
    for value in values {
        all = f(all, *value);
    }
    all
}

#[sycl::device]
fn repeat(count: u32, mut f: impl FnMut(u32)) {
    for i in 0..count {
        f(i);
    }
}

#[sycl::device]
fn negated(x: f32) -> f32 {
    -x
}

#[derive(Clone, Copy, Debug, PartialEq, sycl::Device)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[sycl::device]
impl Pair {
    fn map(self, f: impl Fn(f32) -> f32) -> Pair {
        Pair {
            a: f(self.a),
            b: f(self.b),
        }
    }

    fn sum(pair: Pair) -> f32 {
        pair.a + pair.b
    }
}

#[sycl::kernel]
fn functions(input: &[f32], output: &mut [f32]) {
    let i = item::<1>().id();
    let scale = input[i];
    let shifted = |x: f32| x * scale + 1.0;
    let mut sum = twice(shifted, 2.0) + twice(|x| x - scale, 3.0);
    sum += twice(negated, sum);
    let early = |x: f32| {
        if x > 10.0 {
            return 0.5;
        }
        let y = x * 2.0;
        y + shifted(y)
    };
    sum += early(scale) + early(3.0);
    let mut calls = 0;
    repeat(3, |i| {
        calls += i + 1;
        if i == 1 {
            return;
        }
        sum += i as f32;
    });
    let before = calls;
    let mut copy = move |x: u32| {
        calls += x;
        calls
    };
    let first = copy(1);
    let second = copy(10);
    calls *= 2;
    let pair = Pair { a: scale, b: 1.0 }.map(|x| x + 0.25).map(shifted);
    sum += Pair::sum(pair);
    sum += fold(input, 0.0, &|a, b| if a > b { a } else { b });
    output[i] = sum + (before + first * 100 + second * 3 + calls) as f32;
}

#[test]
fn closures_are_those_of_rust() -> Result<()> {
    let input: Vec<f32> = (0..40u8).map(|i| f32::from(i) * 0.75 - 9.0).collect();
    let mut host = vec![0.0; 40];
    for_each([40], || functions(&input, &mut host));
    assert_eq!(run(functions, &input, &[0.0; 40])?, host);
    Ok(())
}
