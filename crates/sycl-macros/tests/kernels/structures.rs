//! Structures, tuples, arrays, device functions, methods, and generic kernels.

#![forbid(unsafe_code)]

use sycl::kernel::{KernelType, for_each};
use sycl::{DeviceData, Result, item};

use super::device::run;

#[derive(Clone, Copy, Debug, PartialEq, sycl::Device)]
#[repr(C)]
struct Vector {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, sycl::Device)]
#[repr(C)]
struct Particle {
    place: Vector,
    speed: Vector,
    history: [f32; 3],
    age: u32,
}

impl Vector {
    #[sycl::device]
    fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }

    #[sycl::device]
    fn plus(self, other: Vector) -> Vector {
        Self::new(self.x + other.x, self.y + other.y)
    }

    #[sycl::device]
    fn scale(&mut self, by: f32) {
        self.x *= by;
        self.y *= by;
    }

    #[sycl::device]
    fn length(&self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

#[sycl::device]
fn reflect(place: f32, speed: &mut f32) -> f32 {
    if place < 0.0 {
        *speed = -*speed;
        return -place;
    }
    if place > 1.0 {
        *speed = -*speed;
        return 2.0 - place;
    }
    place
}

#[sycl::kernel]
fn step(input: &[Particle], output: &mut [Particle]) {
    let i = item::<1>().id();
    let mut p = input[i];
    p.place = p.place.plus(p.speed);
    p.place.x = reflect(p.place.x, &mut p.speed.x);
    p.place.y = reflect(p.place.y, &mut p.speed.y);
    let slot = (p.age % 3) as usize;
    p.history[slot] = p.place.length();
    p.speed.scale(0.99);
    p.age += 1;
    output[i] = Particle {
        age: p.age * 2,
        ..p
    };
    output[i].age += p.history.len() as u32;
}

#[test]
fn structures_lie_in_buffers() -> Result<()> {
    let input: Vec<Particle> = (0..40u8)
        .map(|i| {
            let at = f32::from(i) / 40.0;
            Particle {
                place: Vector { x: at, y: 1.0 - at },
                speed: Vector {
                    x: at - 0.3,
                    y: 0.4 - at,
                },
                history: [at; 3],
                age: u32::from(i),
            }
        })
        .collect();
    let mut host = input.clone();
    for_each([input.len()], || step(&input, &mut host));
    assert_eq!(run(step, &input, &input)?, host);
    Ok(())
}

#[sycl::kernel]
fn by_value(offset: Vector, flag: bool, weights: [u32; 4], output: &mut [f32]) {
    let i = item::<1>().id();
    let weight = weights[i % 4] as f32;
    output[i] = if flag { offset.x * weight } else { offset.y };
}

#[test]
fn structures_arrays_and_bool_are_arguments() -> Result<()> {
    let queue = super::device::queue();
    let offset = Vector { x: 1.5, y: -2.0 };
    for flag in [true, false] {
        let mut host = vec![0.0; 9];
        for_each([9], || by_value(offset, flag, [1, 2, 3, 4], &mut host));
        let buffer = sycl::Buffer::from_slice(&[0f32; 9], [9])?;
        queue.submit(|cg| {
            let output = cg.access(&buffer, sycl::ReadWrite)?;
            cg.parallel_for(by_value, [9], (offset, flag, [1u32, 2, 3, 4], &output))
        })?;
        assert_eq!(buffer.into_vec()?, host);
    }
    Ok(())
}

#[sycl::device]
fn smallest<T: KernelType + Copy + PartialOrd, const N: usize>(values: [T; N]) -> T {
    let mut least = values[0];
    for value in values {
        if value < least {
            least = value;
        }
    }
    least
}

#[sycl::kernel]
fn window<T, const N: usize>(input: &[T], output: &mut [T])
where
    T: KernelType + DeviceData + PartialOrd,
{
    let i = item::<1>().id();
    let mut values = [input[i]; N];
    for j in 1..N {
        values[j] = input[(i + j) % input.len()];
    }
    output[i] = smallest(values);
}

#[test]
fn generic_kernels_are_staged_for_each_type() -> Result<()> {
    let input: Vec<i16> = (0..50).map(|i| (i * 37 % 101) - 50).collect();
    let mut host = vec![0; 50];
    for_each([50], || window::<i16, 3>(&input, &mut host));
    assert_eq!(run(window::kernel::<i16, 3>(), &input, &[0; 50])?, host);
    let input: Vec<f64> = input.into_iter().map(|x| f64::from(x) / 3.0).collect();
    let mut host = vec![0.0; 50];
    for_each([50], || window::<f64, 5>(&input, &mut host));
    assert_eq!(run(window::kernel::<f64, 5>(), &input, &[0.0; 50])?, host);
    Ok(())
}

mod inner {
    #[sycl::device]
    pub(crate) fn swapped((a, b): (u32, u32)) -> (u32, u32) {
        (b, a)
    }
}

#[sycl::kernel]
fn pairs(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    let mut pair = (input[i], i as u32);
    pair.0 += 1;
    let (a, b) = inner::swapped(pair);
    let nested = ((a, true), [b, b + 1]);
    let found = &nested.1[1];
    output[i] = if nested.0.1 {
        nested.0.0 * 100 + *found
    } else {
        0
    };
}

#[test]
fn tuples_and_references() -> Result<()> {
    let input: Vec<u32> = (0..30).map(|i| i * i).collect();
    let mut host = vec![0; 30];
    for_each([30], || pairs(&input, &mut host));
    assert_eq!(run(pairs, &input, &[0; 30])?, host);
    Ok(())
}
