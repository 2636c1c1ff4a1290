//! Functions of `sycl::math`, on the device and on the host.

#![forbid(unsafe_code)]

use sycl::kernel::for_each;
use sycl::{Result, f16, item, math};

use super::device::grouped;

/// Results of one number.
const FUNCTIONS: usize = 21;

macro_rules! all {
    ($($test:ident $kernel:ident $ty:ident $from:path, $to:path, $tolerance:expr;)*) => { $(
        #[sycl::kernel]
        fn $kernel(input: &[$ty], output: &mut [$ty]) {
            let i = item::<1>().id();
            let (x, y) = (input[i], input[(i + 1) % input.len()]);
            let unit = y / (y + y + y);
            let results = [
                math::rsqrt(x),
                math::exp10(unit),
                math::sinpi(x),
                math::cospi(x),
                math::tanpi(unit),
                math::asinpi(unit),
                math::acospi(unit),
                math::atanpi(x),
                math::atan2pi(x, y),
                math::erf(x),
                math::erfc(x),
                math::tgamma(x),
                math::lgamma(x),
                math::logb(x),
                math::fdim(x, y),
                math::remainder(x, y),
                math::step(x, y),
                math::mix(x, y, unit),
                math::smoothstep(x, x + x, y),
                math::ldexp(x, 3),
                math::rootn(x, 3),
            ];
            for k in 0..21usize {
                output[i * 21 + k] = results[k];
            }
        }

        #[test]
        fn $test() -> Result<()> {
            let values = [0.3, 0.5, 0.75, 1.0, 1.4, 2.0, 2.5, 3.25].map($from);
            let zeros = vec![$from(0.0); values.len() * FUNCTIONS];
            let mut host = zeros.clone();
            for_each([values.len()], || $kernel(&values, &mut host));
            let got = grouped($kernel, &values, &zeros, values.len(), None)?;
            for (at, (got, host)) in got.iter().zip(&host).enumerate() {
                let (got, host) = ($to(*got), $to(*host));
                let most = $tolerance * host.abs().max(1.0);
                assert!((got - host).abs() <= most, "function {} of {}: {got} {host}",
                    at % FUNCTIONS, at / FUNCTIONS);
            }
            Ok(())
        }
    )* };
}
all! {
    singles on_singles f32 f32_of, f64::from, 4e-6;
    doubles on_doubles f64 f64::from, f64::from, 1e-13;
    halves on_halves f16 f16::from_f64, f16::to_f64, 2e-3;
}

fn f32_of(x: f64) -> f32 {
    x as f32
}

#[test]
fn known_values_on_the_host() {
    for (got, expected) in [
        (math::rsqrt(4.0), 0.5),
        (math::sinpi(0.5), 1.0),
        (math::sinpi(1e9 + 1.0), 0.0),
        (math::cospi(2.0), 1.0),
        (math::cospi(0.5), 0.0),
        (math::tgamma(5.0), 24.0),
        (math::logb(1024.0), 10.0),
        (math::logb(0.0), f64::NEG_INFINITY),
        (math::rootn(-8.0, 3), -2.0),
        (math::ldexp(3.0, 2), 12.0),
        (math::remainder(5.0, 3.0), -1.0),
        (math::mix(1.0, 3.0, 0.5), 2.0),
        (math::smoothstep(0.0, 1.0, 0.5), 0.5),
    ] {
        assert!(
            (got - expected).abs() < 1e-12 || got == expected,
            "{got} {expected}"
        );
    }
}
