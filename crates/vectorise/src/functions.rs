//! Which mathematical functions have a vector form.

use kernel_ir::MathFn;

/// How a function on vectors is emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorForm {
    /// Inline instructions.
    Inline,
    /// A call of a function in the object, which takes vectors.
    Function,
    /// A call of C's library for each lane.
    Library,
}

/// The form of `math`. Roots, roundings and the like are operations of LLVM and count as `Library` here.
#[must_use]
pub fn vector_form(math: MathFn) -> VectorForm {
    use MathFn as M;
    match math {
        M::Exp
        | M::NativeExp
        | M::Exp2
        | M::NativeExp2
        | M::Exp10
        | M::NativeExp10
        | M::Log
        | M::NativeLog
        | M::Log2
        | M::NativeLog2
        | M::Log10
        | M::NativeLog10
        | M::Sin
        | M::NativeSin
        | M::Cos
        | M::NativeCos
        | M::Tan
        | M::NativeTan
        | M::Fdim
        | M::Fmod
        | M::FrexpExponent
        | M::FrexpMantissa
        | M::Ilogb
        | M::Ldexp
        | M::Logb
        | M::Nextafter
        | M::Remainder
        | M::Hypot
        | M::NativePowr
        | M::NativeRsqrt => VectorForm::Inline,
        M::Acos
        | M::Acosh
        | M::Acospi
        | M::Asin
        | M::Asinh
        | M::Asinpi
        | M::Atan
        | M::Atan2
        | M::Atan2pi
        | M::Atanh
        | M::Atanpi
        | M::Cbrt
        | M::Cosh
        | M::Cospi
        | M::Erf
        | M::Erfc
        | M::Expm1
        | M::Lgamma
        | M::Log1p
        | M::Pow
        | M::Pown
        | M::Powr
        | M::Rootn
        | M::Sinh
        | M::Sinpi
        | M::Tanh
        | M::Tanpi
        | M::Tgamma => VectorForm::Function,
        _ => VectorForm::Library,
    }
}

/// Whether `math` on vectors needs no call for each lane.
#[must_use]
pub fn has_vector_form(math: MathFn) -> bool {
    vector_form(math) != VectorForm::Library
}
