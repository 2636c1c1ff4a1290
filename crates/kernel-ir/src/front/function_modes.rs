//! Float modes as decorations of single functions, which are supported for whole kernels only.

use super::fault::{Res, invalid, unsupported};
use spirv::{Decoration, FPDenormMode, FPOperationMode, FPRoundingMode};

/// The float width of a mode, in bits.
pub(super) fn width(operand: Option<u32>) -> Res<u32> {
    match operand {
        Some(width @ (16 | 32 | 64)) => Ok(width),
        Some(other) => invalid(format!(
            "a mode of floats of {other} bits; there are 16, 32 and 64"
        )),
        None => invalid("the width of the floats is missing"),
    }
}

/// Refuses decorations whose mode differs from the compiler's.
pub(super) fn function_decoration(decoration: u32, operands: &[u32]) -> Res<()> {
    let Some(known) = Decoration::from_u32(decoration) else {
        return Ok(());
    };
    let mode = || {
        width(operands.first().copied())?;
        match operands.get(1) {
            Some(&mode) => Ok(mode),
            None => invalid("the mode is missing"),
        }
    };
    match known {
        Decoration::FunctionRoundingModeINTEL => match FPRoundingMode::from_u32(mode()?) {
            Some(FPRoundingMode::RTE) => Ok(()),
            Some(other) => unsupported(format!(
                "FunctionRoundingModeINTEL {other:?}: a function rounds to nearest even; conversions may carry a rounding of their own"
            )),
            None => invalid("this rounding mode does not exist"),
        },
        Decoration::FunctionDenormModeINTEL => match FPDenormMode::from_u32(mode()?) {
            Some(FPDenormMode::Preserve) => Ok(()),
            Some(FPDenormMode::FlushToZero) => unsupported(
                "FunctionDenormModeINTEL FlushToZero: only a whole kernel flushes, by the execution mode DenormFlushToZero 32",
            ),
            None => invalid("this denormal mode does not exist"),
        },
        Decoration::FunctionFloatingPointModeINTEL => match FPOperationMode::from_u32(mode()?) {
            Some(FPOperationMode::IEEE) => Ok(()),
            Some(FPOperationMode::ALT) => unsupported(
                "FunctionFloatingPointModeINTEL ALT: this device's floats are those of IEEE 754",
            ),
            None => invalid("this floating-point mode does not exist"),
        },
        _ => Ok(()),
    }
}
