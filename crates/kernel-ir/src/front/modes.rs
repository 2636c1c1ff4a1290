//! Float execution modes of a module, and how they restrict the build options.
//!
//! Invariant: no mode is ignored. A mode that the code satisfies anyway needs nothing, a mode that contradicts an
//! option withdraws the option (options only permit), and every other mode is refused by name.

use super::fault::{At, Fault, unsupported};
use super::source::Source;
use crate::{FunctionId, Inst, Module, Op, Options, Type, ValueId};
use spirv::{Capability, Decoration, ExecutionMode};
use std::collections::HashMap;

/// FPFastMathMode's AllowContract.
pub(super) const ALLOW_CONTRACT: u32 = 0x1_0000;

/// Whether an entry point of `sources` has execution mode `mode`.
fn any_mode(sources: &[Source<'_>], mode: ExecutionMode) -> bool {
    sources.iter().any(|source| {
        source.entries.iter().any(|entry| {
            source
                .modes_of(entry.function)
                .any(|(found, ..)| found == mode as u32)
        })
    })
}

/// The build options without those that contradict a module's execution modes.
pub(super) fn options_left(sources: &[Source<'_>], mut options: Options) -> Options {
    if any_mode(sources, ExecutionMode::DenormPreserve)
        || sources.iter().any(|source| source.keeps_denorms)
    {
        options.denorms_are_zero = false;
    }
    if any_mode(sources, ExecutionMode::SignedZeroInfNanPreserve) {
        // Contraction is the only part of the wide options that is still allowed.
        options.mad_enable |= options.fast_relaxed_math || options.unsafe_math;
        options.fast_relaxed_math = false;
        options.unsafe_math = false;
        options.finite_math_only = false;
        options.no_signed_zeros = false;
    }
    options
}

/// Whether kernels of `source` allow contraction by default.
pub(super) fn contracts(source: &Source<'_>) -> bool {
    !(source.has_capability(Capability::FloatControls2)
        && source
            .operands_of(Decoration::FPFastMathMode)
            .any(|operands| operands.first().is_some_and(|m| m & ALLOW_CONTRACT == 0)))
}

/// Refuses `DenormFlushToZero 32` for kernels that compute with doubles, which the processor would flush as well.
///
/// `functions` maps ids of a module's functions to functions of the program, `calls` gives the callees of a function.
pub(super) fn check_flushing<'a>(
    module: &Module,
    sources: &[Source<'_>],
    functions: impl Fn(usize, u32) -> Option<FunctionId>,
    calls: impl Fn(FunctionId) -> &'a [(FunctionId, u32)],
) -> Result<(), (usize, Box<Fault>)> {
    let mut known: HashMap<FunctionId, bool> = HashMap::new();
    for (i, source) in sources.iter().enumerate() {
        for entry in &source.entries {
            let flushing = source
                .modes_of(entry.function)
                .find(|(mode, ..)| *mode == ExecutionMode::DenormFlushToZero as u32);
            let (Some((_, _, word)), Some(start)) = (flushing, functions(i, entry.function)) else {
                continue;
            };
            let mut seen = std::collections::HashSet::from([start]);
            let mut open = vec![start];
            while let Some(function) = open.pop() {
                if *known
                    .entry(function)
                    .or_insert_with(|| calculates_with_doubles(module, function))
                {
                    let name = module.functions.get(function.index());
                    let name = name.map_or("", |f| f.name.as_str());
                    let fault = unsupported::<()>(format!(
                        "DenormFlushToZero 32 for a kernel that calculates with doubles (in {name:?}): they would be flushed as well"
                    ));
                    return fault.at(word).map_err(|fault| (i, fault));
                }
                for &(callee, _) in calls(function) {
                    if seen.insert(callee) {
                        open.push(callee);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether an instruction of `function` rounds or compares doubles, or calls an unknown function.
fn calculates_with_doubles(module: &Module, function: FunctionId) -> bool {
    let Some(f) = module.functions.get(function.index()) else {
        return false;
    };
    let is_double = |value: ValueId| {
        let scalar = module.types.scalar_of(f.ty(value));
        scalar.is_some_and(|scalar| *module.types.get(scalar) == Type::Float(64))
    };
    let calculates = |inst: &Inst| match &inst.op {
        Op::CallIndirect(..) => true,
        Op::Binary(..)
        | Op::Unary(..)
        | Op::Math(..)
        | Op::Compare(..)
        | Op::Convert(..)
        | Op::Group(..)
        | Op::Atomic { .. } => {
            let mut any = inst.result.is_some_and(is_double);
            inst.op.operands(|operand| any |= is_double(operand));
            any
        }
        _ => false,
    };
    f.insts.iter().any(calculates)
}
