//! The cost of single operations, in rough numbers of instructions: of arithmetic and of mathematical functions.

use kernel_ir::{BinaryOp, MathFn, Op};

use crate::functions::{VectorForm, vector_form};

/// Instructions that a call of C's library counts for; half of it for functions with short code. An exponential in
/// lanes is 5.5 times faster than one work-item after another (model: 7.5), a power, which is a function, 2.2 times
/// (model: 4.4; 2026-11, AMD EPYC without AVX-512).
const CALL: u64 = 30;

/// The cost of an operation for one work-item.
pub(crate) fn of_one(op: &Op) -> u64 {
    match op {
        Op::Phi(_) => 0,
        Op::Math(math, ..) => math_costs(*math, 1, 1).0,
        Op::Binary(binary, ..) if divides(*binary) => 8,
        _ => 1,
    }
}

/// Whether `op` is a call of C's library for each lane.
pub(crate) fn calls_library(op: &Op) -> bool {
    matches!(op, Op::Math(math, ..) if math_costs(*math, 1, 1).0 == CALL)
}

/// Whether `binary` divides integers.
pub(crate) fn divides(binary: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(binary, B::UDiv | B::SDiv | B::URem | B::SRem | B::SMod)
}

/// The costs of a function of mathematics: of one call, and of all lanes.
pub(crate) fn math_costs(math: MathFn, lanes: u64, registers: u64) -> (u64, u64) {
    use MathFn as M;
    match math {
        M::Ceil
        | M::Floor
        | M::Trunc
        | M::Rint
        | M::Fabs
        | M::Copysign
        | M::Fmax
        | M::Fmin
        | M::Fma
        | M::Mad => (1, registers),
        // Square roots, divisions and functions that have a vector form.
        M::Sqrt
        | M::Rsqrt
        | M::NativeSqrt
        | M::NativeRsqrt
        | M::NativeDivide
        | M::NativeRecip
        | M::Round
        | M::Fract
        | M::Maxmag
        | M::Minmag
        | M::ModfFraction
        | M::ModfInteger => (CALL / 2, CALL / 2 * registers),
        _ => match vector_form(math) {
            VectorForm::Inline => (CALL / 2, CALL / 2 * registers),
            VectorForm::Function => (CALL / 2, CALL * registers),
            // One call for each lane, an extract and an insert.
            VectorForm::Library => (CALL, (CALL + 2) * lanes),
        },
    }
}
