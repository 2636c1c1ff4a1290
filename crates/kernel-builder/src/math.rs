//! Mathematical functions that Rust's numbers do not have, under the names of SYCL and OpenCL.
//!
//! `math::rsqrt(x)` is a function of `f32`, `f64` and `f16`. Methods such as `x.sin()` are in `methods`.
//!
//! On the device the functions have the accuracy that OpenCL gives for their type; on the host they are computed by crate
//! `libm`, `f16` through `f32`.

use half::f16;
use spirv::OpenclStd100Op as Cl;

use crate::builder::{Builder, Operand};
use crate::kernel_type::Constant;
use crate::stage::{Stage, Staged};
use crate::types::Type;

/// Numbers that the functions of this module have: `f32`, `f64` and `f16`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no functions of `sycl::math`",
    note = "f32, f64 and f16 have; convert with `as f32`"
)]
pub trait Real: Constant {
    #[doc(hidden)]
    #[must_use]
    fn one(self, narrow: fn(f32) -> f32, wide: fn(f64) -> f64) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn two(self, other: Self, narrow: fn(f32, f32) -> f32, wide: fn(f64, f64) -> f64) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn three(
        self,
        others: (Self, Self),
        narrow: fn(f32, f32, f32) -> f32,
        wide: fn(f64, f64, f64) -> f64,
    ) -> Self;
    #[doc(hidden)]
    #[must_use]
    fn counted(self, count: i32, narrow: fn(f32, i32) -> f32, wide: fn(f64, i32) -> f64) -> Self;
}

macro_rules! reals {
    ($($ty:ident ($narrow:ident $wide:ident) $chosen:ident $unused:ident |$value:ident| $to:expr, $from:expr;)*) => { $(
        impl Real for $ty {
            fn one(self, $narrow: fn(f32) -> f32, $wide: fn(f64) -> f64) -> Self {
                let _ = $unused;
                let to = |$value: Self| $to;
                let $value = $chosen(to(self));
                $from
            }
            fn two(self, other: Self, $narrow: fn(f32, f32) -> f32, $wide: fn(f64, f64) -> f64) -> Self {
                let _ = $unused;
                let to = |$value: Self| $to;
                let $value = $chosen(to(self), to(other));
                $from
            }
            fn three(
                self,
                others: (Self, Self),
                $narrow: fn(f32, f32, f32) -> f32,
                $wide: fn(f64, f64, f64) -> f64,
            ) -> Self {
                let _ = $unused;
                let to = |$value: Self| $to;
                let $value = $chosen(to(self), to(others.0), to(others.1));
                $from
            }
            fn counted(self, count: i32, $narrow: fn(f32, i32) -> f32, $wide: fn(f64, i32) -> f64) -> Self {
                let _ = $unused;
                let to = |$value: Self| $to;
                let $value = $chosen(to(self), count);
                $from
            }
        }
    )* };
}
reals! {
    f32 (narrow wide) narrow wide |value| value, value;
    f64 (narrow wide) wide narrow |value| value, value;
    f16 (narrow wide) narrow wide |value| value.to_f32(), f16::from_f32(value);
}

impl Builder {
    /// A function whose operands and result have the type of the first operand; a count is an `i32`.
    fn math_function(&mut self, function: Cl, operands: &[Operand]) -> Operand {
        let half = Type::Float(16);
        let (mut ids, mut ty) = (Vec::new(), Type::Unit);
        for &operand in operands {
            let Operand::Value(id) = self.read(operand) else {
                return Operand::Never;
            };
            let own = self.type_of(id);
            if ids.is_empty() {
                ty = own.clone();
            }
            // As on the host, `f16` is computed in `f32`.
            let wide = match own == half {
                true => self.cast(Operand::Value(id), &Type::Float(32)),
                false => Operand::Value(id),
            };
            let Operand::Value(id) = wide else {
                return Operand::Never;
            };
            ids.push(id);
        }
        match ty == half {
            true => {
                let wide = self.function(function, &Type::Float(32), &ids);
                self.cast(wide, &half)
            }
            false => self.function(function, &ty, &ids),
        }
    }
}

macro_rules! functions {
    ($apply:ident $(
        $(#[$doc:meta])* $name:ident $function:ident
        ($first:ident: T $(, $other:ident: $ty:ty)*) ($($rest:expr)?) $narrow:expr, $wide:expr;
    )*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $name<T: Real>($first: T $(, $other: $ty)*) -> T {
            $first.$apply($($rest,)? $narrow, $wide)
        }
        #[doc(hidden)]
        #[expect(non_camel_case_types, reason = "the staged form has the function's name")]
        #[derive(Debug)]
        pub enum $name {}
        impl $name {
            #[doc(hidden)]
            pub fn __stage<T: Real>(
                stage: &Stage,
                $first: Staged<T>
                $(, $other: Staged<$ty>)*
            ) -> Staged<T> {
                let operands = [$first.operand() $(, $other.operand())*];
                stage.operation(|builder| builder.math_function(Cl::$function, &operands))
            }
        }
    )* };
}

functions! { one
    /// One over the square root.
    rsqrt rsqrt (x: T) () |x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt();
    /// Ten to the power of `x`.
    exp10 exp10 (x: T) () libm::exp10f, libm::exp10;
    /// The sine of `x` times π.
    sinpi sinpi (x: T) () |x| sin_pi(x.into()) as f32, sin_pi;
    /// The cosine of `x` times π.
    cospi cospi (x: T) () |x| cos_pi(x.into()) as f32, cos_pi;
    /// The tangent of `x` times π.
    tanpi tanpi (x: T) () |x| (sin_pi(x.into()) / cos_pi(x.into())) as f32, |x| sin_pi(x) / cos_pi(x);
    /// The arc sine, divided by π.
    asinpi asinpi (x: T) () |x| over_pi(f64::from(x).asin()) as f32, |x| over_pi(x.asin());
    /// The arc cosine, divided by π.
    acospi acospi (x: T) () |x| over_pi(f64::from(x).acos()) as f32, |x| over_pi(x.acos());
    /// The arc tangent, divided by π.
    atanpi atanpi (x: T) () |x| over_pi(f64::from(x).atan()) as f32, |x| over_pi(x.atan());
    /// The error function.
    erf erf (x: T) () libm::erff, libm::erf;
    /// One less the error function.
    erfc erfc (x: T) () libm::erfcf, libm::erfc;
    /// The gamma function.
    tgamma tgamma (x: T) () libm::tgammaf, libm::tgamma;
    /// The natural logarithm of the absolute value of the gamma function.
    lgamma lgamma (x: T) () libm::lgammaf, libm::lgamma;
    /// The exponent of a number as a floating-point number.
    logb logb (x: T) () |x| exponent(x.into()) as f32, exponent;
}

functions! { two
    /// The positive difference: `x - y`, or zero where it would be negative.
    fdim fdim (x: T, y: T) (y) libm::fdimf, libm::fdim;
    /// The remainder of `x / y`, rounded to the nearest integer.
    remainder remainder (x: T, y: T) (y) libm::remainderf, libm::remainder;
    /// 0 below the edge, otherwise 1.
    step step (edge: T, x: T) (x) |edge, x| if x < edge { 0.0 } else { 1.0 },
        |edge, x| if x < edge { 0.0 } else { 1.0 };
    /// The angle of a point, divided by π.
    atan2pi atan2pi (y: T, x: T) (x) |y, x| over_pi(f64::from(y).atan2(x.into())) as f32,
        |y, x| over_pi(y.atan2(x));
}

functions! { three
    /// Between `x` and `y`: `x + (y - x) * a`.
    mix mix (x: T, y: T, a: T) ((y, a)) |x, y, a| x + (y - x) * a, |x, y, a| x + (y - x) * a;
    /// A smooth step from 0 to 1 between two edges.
    smoothstep smoothstep (low: T, high: T, x: T) ((high, x)) smooth_narrow, smooth_wide;
}

functions! { counted
    /// `x` times two to the power of `count`.
    ldexp ldexp (x: T, count: i32) (count) libm::ldexpf, libm::ldexp;
    /// The root with a number: `rootn(x, 3)` is the cubic root.
    rootn rootn (x: T, count: i32) (count) |x, count| root(x.into(), count) as f32, root;
}

fn sin_pi(x: f64) -> f64 {
    let near = x - 2.0 * (x / 2.0).round();
    match (near, near.abs() >= 1.0) {
        (_, true) => 0.0f64.copysign(x),
        (near, _) => (near * std::f64::consts::PI).sin(),
    }
}

fn cos_pi(x: f64) -> f64 {
    let near = (x - 2.0 * (x / 2.0).round()).abs();
    match near == 0.5 {
        true => 0.0,
        false => (near * std::f64::consts::PI).cos(),
    }
}

fn over_pi(angle: f64) -> f64 {
    angle * std::f64::consts::FRAC_1_PI
}

fn exponent(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        f64::from(libm::ilogb(x))
    } else {
        x * x
    }
}

fn smooth_wide(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn smooth_narrow(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn root(x: f64, count: i32) -> f64 {
    let of = |x: f64| match count {
        3 => x.cbrt(),
        _ => x.powf(1.0 / f64::from(count)),
    };
    match x < 0.0 && count % 2 != 0 {
        true => -of(-x),
        false => of(x),
    }
}
