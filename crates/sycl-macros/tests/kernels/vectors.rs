//! Vectors: operators, methods, geometry, swizzles, members, memory.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Result, f32x2, f32x3, f32x4, f32x8, f64x4, i8x16, i32x4, item, u8x3, u32x4, u64x2};

use super::device::run;

/// Numbers with digits after the point, negative ones among them.
fn floats(count: usize) -> Vec<f32> {
    let whole = (0..count).map(|i| (i * 7919 % 1009) as f32);
    whole.map(|x| x / 37.0 - 11.0).collect()
}

fn vectors(count: usize) -> Vec<f32x4> {
    let all = floats(count * 4);
    all.chunks_exact(4)
        .map(|part| f32x4::new(part[0], part[1], part[2], part[3]))
        .collect()
}

const UP: f32x3 = f32x3::new(0.0, 1.0, 0.5);

#[sycl::kernel]
fn arithmetic(input: &[f32x4], output: &mut [f32x4]) {
    let i = item::<1>().id();
    let (a, b) = (input[i], input[(i + 1) % input.len()]);
    let mut sum = a + b * 2.0 - 0.5 * a / b;
    sum += a;
    sum *= 0.25;
    sum.x = a.w - sum.x;
    sum[i % 4] += b[i % 3];
    sum -= f32x4::splat(a.y) % f32x4::from_array([1.5, 2.5, -3.5, 4.5]);
    let mut values = sum.to_array();
    values[2] += 1.0;
    let again: f32x4 = f32x4::from_array(values);
    output[i] = if again == a || a != b { -again } else { a };
}

#[sycl::kernel]
fn geometry(input: &[f32x4], output: &mut [f32x4]) {
    let i = item::<1>().id();
    let a = input[i].xyz();
    let b = input[(i + 1) % input.len()].wzy() + UP;
    let side = a.cross(b);
    let flat: f32x2 = side.zx() + a.yy();
    output[i] = f32x4::new(
        a.dot(b) + a.length(),
        a.distance(b),
        side.normalize().y,
        flat.x - flat.yx().x + input[i].wzyx().sum(),
    );
}

#[sycl::kernel]
fn methods(input: &[f32x4], output: &mut [f32x4]) {
    let i = item::<1>().id();
    let (a, b) = (input[i], input[(i + 1) % input.len()]);
    let low = a.min(b).abs().sqrt();
    let high = a.max(b).floor().mul_add(b, a);
    output[i] = low.clamp(f32x4::splat(0.5), f32x4::splat(3.0)) + high.recip() + a.signum();
}

#[test]
fn vectors_of_floats_agree_with_the_host() -> Result<()> {
    let input = vectors(64);
    let zero = vec![f32x4::default(); 64];
    for (name, device, host) in [
        (
            "arithmetic",
            run(arithmetic, &input, &zero)?,
            (*arithmetic) as fn(&[f32x4], &mut [f32x4]),
        ),
        ("geometry", run(geometry, &input, &zero)?, *geometry),
        ("methods", run(methods, &input, &zero)?, *methods),
    ] {
        let mut want = zero.clone();
        for_each([64], || host(&input, &mut want));
        for (i, (got, want)) in device.iter().zip(&want).enumerate() {
            let bits = |v: &f32x4| v.to_array().map(f32::to_bits);
            assert_eq!(bits(got), bits(want), "{name} {i}: {got:?}, not {want:?}");
        }
        assert!(want.iter().any(|v| *v != want[0]), "{name}: results differ");
    }
    Ok(())
}

#[sycl::kernel]
fn integers(input: &[u32x4], output: &mut [i32x4]) {
    let i = item::<1>().id();
    let (a, b) = (input[i], input[(i + 1) % input.len()]);
    let mixed = (a ^ b) | (a & 0xff) << u32x4::new(1, 2, 3, 4);
    let quotient = a / (b + 1) + a % 7;
    let signed = (mixed >> 3).cast::<i32>() - quotient.cast::<i32>();
    output[i] = !signed.max(i32x4::splat(-5)) + (-signed).wrapping_mul(signed);
}

#[sycl::kernel]
fn wide(input: &[f32x8], output: &mut [f64x4]) {
    let i = item::<1>().id();
    let doubled = input[i] + input[i];
    let mut small = i8x16::splat(-3);
    small[i % 16] = 7;
    let narrow = (u64x2::new(1 << 40, 5) >> 38).cast::<u32>();
    output[i] = f64x4::new(
        doubled.sum() as f64,
        doubled[i % 8] as f64,
        small.sum() as f64,
        (narrow.x + narrow.y) as f64,
    );
}

#[test]
fn vectors_of_integers_and_wide_ones_agree_with_the_host() -> Result<()> {
    let input: Vec<u32x4> = (0..32u32)
        .map(|i| u32x4::new(i * 7919 % 1009, i, i * i % 77, 3))
        .collect();
    let mut want = vec![i32x4::default(); 32];
    for_each([32], || integers(&input, &mut want));
    assert_eq!(run(integers, &input, &[i32x4::default(); 32])?, want);
    let input: Vec<f32x8> = floats(128)
        .chunks_exact(8)
        .map(|part| f32x8::from_array(std::array::from_fn(|lane| part[lane])))
        .collect();
    let mut want = vec![f64x4::default(); 16];
    for_each([16], || wide(&input, &mut want));
    assert_eq!(run(wide, &input, &[f64x4::default(); 16])?, want);
    Ok(())
}

/// Three lanes lie in memory as four, on both sides.
#[sycl::kernel]
fn threes(input: &[u8x3], output: &mut [f32x3]) {
    let i = item::<1>().id();
    let x = input[i].zyx();
    output[i] = x.cast::<f32>() * 0.5;
    output[i].y = 1.0 + output[i].z;
}

#[test]
fn three_lanes_have_the_memory_of_four() -> Result<()> {
    assert_eq!((size_of::<u8x3>(), align_of::<u8x3>()), (4, 4));
    assert_eq!((size_of::<f32x3>(), align_of::<f32x3>()), (16, 16));
    assert_eq!((size_of::<i8x16>(), align_of::<i8x16>()), (16, 16));
    assert_eq!((size_of::<f64x4>(), align_of::<f64x4>()), (32, 32));
    let input: Vec<u8x3> = (0..20).map(|i| u8x3::new(i, 2 * i, 100 + i)).collect();
    let got = run(threes, &input, &[f32x3::default(); 20])?;
    for (i, got) in (0u8..).zip(got) {
        let i = f32::from(i);
        assert_eq!(got, f32x3::new(50.0 + i * 0.5, 1.0 + i * 0.5, i * 0.5));
    }
    Ok(())
}

/// Vectors are passed by value, and are members of structures.
#[derive(Clone, Copy, Debug, PartialEq, sycl::Device)]
#[repr(C)]
struct Ray {
    from: f32x3,
    way: f32x3,
}

impl Ray {
    #[sycl::device]
    fn at(self, t: f32) -> f32x3 {
        self.from + self.way * t
    }
}

#[sycl::kernel]
fn along(ray: Ray, shift: f32x3, scale: f32x2, output: &mut [f32x3]) {
    let i = item::<1>().id();
    let mut moved = ray;
    moved.from += shift;
    moved.way.x *= scale.y;
    output[i] = moved.at(i as f32);
}

#[test]
fn vectors_are_arguments_and_members() -> Result<()> {
    let ray = Ray {
        from: f32x3::new(1.0, 2.0, 3.0),
        way: f32x3::new(0.5, -1.0, 0.0),
    };
    let (shift, scale) = (f32x3::splat(10.0), f32x2::new(5.0, 2.0));
    let queue = super::device::queue();
    let buffer = sycl::Buffer::from_slice(&[f32x3::default(); 4], [4])?;
    queue.submit(|cg| {
        let output = cg.access(&buffer, sycl::ReadWrite)?;
        cg.parallel_for(along, [4], (ray, shift, scale, &output))
    })?;
    let mut want = [f32x3::default(); 4];
    for_each([4], || along(ray, shift, scale, &mut want));
    assert_eq!(want[3], f32x3::new(14.0, 9.0, 13.0));
    assert_eq!(buffer.into_vec()?, want);
    Ok(())
}

#[test]
fn a_lane_outside_is_not_written() -> Result<()> {
    #[sycl::kernel(faults = "mask")]
    fn lane(input: &[u32], output: &mut [u32x4]) {
        let i = item::<1>().id();
        output[i][input[i] as usize] = 9;
        output[i].x = 1;
    }
    let got = run(lane, &[3, 4], &[u32x4::default(); 2])?;
    assert_eq!(got, [u32x4::new(1, 0, 0, 9), u32x4::new(1, 0, 0, 0)]);
    Ok(())
}
