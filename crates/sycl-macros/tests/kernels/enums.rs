//! Enums, `Option`, and patterns.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Result, item};

use super::device::{queue, run};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, sycl::Device)]
enum Light {
    Red,
    Amber = 7,
    Green = -3,
}

#[derive(Clone, Copy, Debug, sycl::Device)]
enum Shape {
    Point,
    Circle { radius: i32 },
    Rectangle(i32, i32),
    Marked(Light, Option<i32>),
}

impl Shape {
    #[sycl::device]
    fn of(n: i32) -> Self {
        match n % 5 {
            0 => Shape::Point,
            1 => Self::Circle { radius: n },
            2 => Shape::Rectangle(n, n + 1),
            3 => Shape::Marked(Light::Amber, Some(n)),
            _ => Shape::Marked(Light::Green, None),
        }
    }

    #[sycl::device]
    fn grow(&mut self, by: i32) {
        match self {
            Shape::Circle { radius } => *radius += by,
            Shape::Rectangle(a, b) => {
                *a += by;
                *b *= 2;
            }
            Shape::Marked(_, Some(n)) => *n -= by,
            Shape::Point | Shape::Marked(..) => {}
        }
    }

    #[sycl::device]
    fn size(&self) -> i32 {
        match self {
            Shape::Point => 0,
            Shape::Circle { radius: 1 } => 111,
            Shape::Circle { radius } => radius * 3,
            Shape::Rectangle(a @ 0..=20, b) | Shape::Rectangle(b, a) => a * 100 + *b,
            Shape::Marked(Light::Red, _) => -1,
            Shape::Marked(light, Some(n)) if *n > 10 => *n * 7 + *light as i32,
            Shape::Marked(light, _) => *light as i32,
        }
    }
}

#[sycl::kernel]
fn shapes(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let mut shape = Shape::of(input[i]);
    let before = shape.size();
    shape.grow(4);
    let copy = shape;
    shape.grow(1);
    output[i] = before + copy.size() * 1000 + shape.size() * 3;
}

#[sycl::kernel]
fn lights(input: &[i32], output: &mut [i32]) {
    const FIRST: Light = Light::Green;
    let i = item::<1>().id();
    let light = match input[i] % 3 {
        0 => Light::Red,
        1 => Light::Amber,
        _ => Light::Green,
    };
    let mut n = light as i32;
    if light == Light::Amber {
        n += 100;
    }
    if light != FIRST {
        n += 1000;
    }
    if light < Light::Red {
        n += 10000;
    }
    let name = match light {
        FIRST => 1,
        Light::Red => 2,
        Light::Amber => 3,
    };
    output[i] = n * 10 + name;
}

#[sycl::device]
fn half(n: i32) -> Option<i32> {
    if n % 2 == 0 { Some(n / 2) } else { None }
}

#[sycl::kernel]
fn options(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let n = input[i];
    let mut sum = 0;
    if let Some(h) = half(n) {
        sum += h;
    } else {
        sum -= 1;
    }
    let mut at = n;
    while let Some(next @ 3..=40) = half(at) {
        at = next;
        sum += 100;
        if sum > 250 {
            break;
        }
    }
    if let Some(a) = half(n)
        && a > 5
        && let Some(b) = half(a)
    {
        sum += b * 7;
    } else if matches!(half(n), Some(1 | 2)) {
        sum += 5000;
    }
    sum += half(n).map(|h| h + n).unwrap_or(-8);
    sum += half(n).and_then(half).map_or(1, |x| x * 2);
    sum += half(n).is_none() as i32;
    let Some(h) = half(n) else {
        output[i] = sum;
        return;
    };
    let pair = (h, Some((n, h)));
    let (a, Some((_, b))) = pair else { return };
    output[i] = sum * 3 + a - b * 2 + input.get(i + 90).copied().unwrap_or(77);
    if let (.., Some((last, ..))) = &pair {
        output[i] += *last;
    }
}

fn numbers() -> Vec<i32> {
    (0..100).collect()
}

#[test]
fn enums_are_those_of_rust() -> Result<()> {
    let (n, before) = (numbers(), vec![5; 100]);
    let mut host = before.clone();
    for_each([n.len()], || shapes(&n, &mut host));
    assert_eq!(run(shapes, &n, &before)?, host);
    for_each([n.len()], || lights(&n, &mut host));
    assert_eq!(run(lights, &n, &before)?, host);
    Ok(())
}

#[test]
fn options_are_those_of_rust() -> Result<()> {
    let (n, before) = (numbers(), vec![5; 100]);
    let mut host = before.clone();
    for_each([n.len()], || options(&n, &mut host));
    assert_eq!(run(options, &n, &before)?, host);
    Ok(())
}

#[sycl::kernel]
fn chosen(light: Light, output: &mut [i32]) {
    let i = item::<1>().id();
    output[i] = match light {
        Light::Red => 1,
        Light::Amber => 2,
        Light::Green => 3,
    } + i as i32;
}

#[test]
fn an_enum_without_data_is_an_argument() -> Result<()> {
    let queue = queue();
    for light in [Light::Red, Light::Amber, Light::Green] {
        let mut host = vec![0; 3];
        for_each([3], || chosen(light, &mut host));
        let buffer = sycl::Buffer::from_slice(&[0i32; 3], [3])?;
        queue.submit(|cg| {
            let output = cg.access(&buffer, sycl::ReadWrite)?;
            cg.parallel_for(chosen, [3], (light, &output))
        })?;
        assert_eq!(buffer.into_vec()?, host);
    }
    Ok(())
}

/// An equality that is not that of the numbers.
#[derive(Clone, Copy, sycl::Device)]
enum Odd {
    A,
    B,
}
impl PartialEq for Odd {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[sycl::kernel]
fn odd(output: &mut [u32]) {
    output[0] = (Odd::A == Odd::B) as u32;
}

#[test]
fn an_equality_of_the_users_own_is_not_guessed() {
    let error = sycl::kernel::spirv(&odd).expect_err("it is no derived one");
    assert!(error.to_string().contains("#[sycl::device]"), "{error}");
}
