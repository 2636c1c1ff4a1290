//! Entry points: metadata of kernels, and their execution modes.

use super::fault::{At, Res, invalid, unsupported};
use super::function_modes;
use super::modes;
use super::source::{Entry, FunctionSource, Source};
use super::table::{Kind, Table};
use crate::{AddressSpace, ArgKind, FunctionId, Kernel, KernelArg, Module};
use spirv::{ExecutionMode, FunctionParameterAttribute};
use std::fmt::Write as _;

/// The kernel of `entry`.
pub(super) fn kernel(
    module: &Module,
    source: &Source<'_>,
    table: &Table,
    entry: &Entry,
    function: (&FunctionSource<'_>, FunctionId),
    flush_denorms: bool,
) -> Res<Kernel> {
    let mut kernel = Kernel {
        name: entry.name.clone(),
        function: function.1,
        required_group_size: None,
        group_size_hint: None,
        required_sub_group_size: 0,
        contract: modes::contracts(source),
        flush_denorms,
        arg_infos: Vec::new(),
        attributes: String::new(),
    };
    for (mode, operands, word) in source.modes_of(entry.function) {
        execution_mode(&mut kernel, module, table, mode, operands).at(word)?;
    }
    for &(id, ty, word) in &function.0.params {
        let arg = argument(module, source, table, id, ty).at(word)?;
        kernel.arg_infos.push(arg);
    }
    Ok(kernel)
}

fn execution_mode(
    kernel: &mut Kernel,
    module: &Module,
    table: &Table,
    mode: u32,
    operands: &[u32],
) -> Res<()> {
    let triple = |by_id: bool| -> Res<[u32; 3]> {
        let &[x, y, z, ..] = operands else {
            return invalid("three sizes are needed");
        };
        if !by_id {
            return Ok([x, y, z]);
        }
        let mut sizes = [0; 3];
        for (size, id) in sizes.iter_mut().zip([x, y, z]) {
            let value = table.integer(module, id)?;
            *size = u32::try_from(value).unwrap_or(u32::MAX);
        }
        Ok(sizes)
    };
    let one = || match operands.first() {
        Some(&value) => Ok(value),
        None => invalid("an operand is missing"),
    };
    let attributes = &mut kernel.attributes;
    let mut note = |text: std::fmt::Arguments<'_>| {
        if !attributes.is_empty() {
            attributes.push(' ');
        }
        let _ = attributes.write_fmt(text);
    };
    match ExecutionMode::from_u32(mode) {
        Some(known @ (ExecutionMode::LocalSize | ExecutionMode::LocalSizeId)) => {
            let size @ [x, y, z] = triple(known == ExecutionMode::LocalSizeId)?;
            if size.contains(&0) {
                return invalid("a required work-group size of 0");
            }
            note(format_args!("reqd_work_group_size({x},{y},{z})"));
            kernel.required_group_size = Some(size);
        }
        Some(known @ (ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId)) => {
            let size @ [x, y, z] = triple(known == ExecutionMode::LocalSizeHintId)?;
            note(format_args!("work_group_size_hint({x},{y},{z})"));
            kernel.group_size_hint = Some(size);
        }
        Some(ExecutionMode::SubgroupSize) => {
            let size = one()?;
            if !matches!(size, 8 | 16 | 32) {
                return unsupported(format!(
                    "sub-group size {size}, this device has 8, 16 and 32"
                ));
            }
            note(format_args!("intel_reqd_sub_group_size({size})"));
            kernel.required_sub_group_size = size;
        }
        Some(ExecutionMode::ContractionOff) => kernel.contract = false,
        Some(ExecutionMode::VecTypeHint) => {
            let hint = one()?;
            let kind = match hint & 0xffff {
                0 => "char",
                1 => "short",
                2 => "int",
                3 => "long",
                4 => "half",
                5 => "float",
                _ => "double",
            };
            match hint >> 16 {
                0 | 1 => note(format_args!("vec_type_hint({kind})")),
                n => note(format_args!("vec_type_hint({kind}{n})")),
            }
        }
        Some(ExecutionMode::DenormFlushToZero) => {
            match function_modes::width(operands.first().copied())? {
                32 => kernel.flush_denorms = true,
                other => {
                    return unsupported(format!(
                        "DenormFlushToZero {other}: a kernel flushes floats of 32 bits only"
                    ));
                }
            }
        }
        // Always true of the code; options that contradict it are withdrawn (`modes`).
        Some(
            ExecutionMode::DenormPreserve
            | ExecutionMode::SignedZeroInfNanPreserve
            | ExecutionMode::RoundingModeRTE
            | ExecutionMode::FloatingPointModeIEEEINTEL,
        ) => {
            function_modes::width(operands.first().copied())?;
        }
        Some(ExecutionMode::FPFastMathDefault) => {
            let (Some(&ty), Some(&mask)) = (operands.first(), operands.get(1)) else {
                return invalid("a type and the licences are needed");
            };
            table.ty(ty)?;
            // Only contraction is used of these flags; it is allowed by default.
            if table.integer(module, mask)? & u64::from(modes::ALLOW_CONTRACT) == 0 {
                kernel.contract = false;
            }
        }
        // Promises and hints about launches, registers and FPGAs.
        Some(
            ExecutionMode::MaxWorkgroupSizeINTEL
            | ExecutionMode::MaxWorkDimINTEL
            | ExecutionMode::NoGlobalOffsetINTEL
            | ExecutionMode::NumSIMDWorkitemsINTEL
            | ExecutionMode::SchedulerTargetFmaxMhzINTEL
            | ExecutionMode::StreamingInterfaceINTEL
            | ExecutionMode::RegisterMapInterfaceINTEL
            | ExecutionMode::MaximumRegistersINTEL
            | ExecutionMode::MaximumRegistersIdINTEL
            | ExecutionMode::NamedMaximumRegistersINTEL,
        ) => {}
        Some(other) => {
            let why = match other {
                ExecutionMode::RoundingModeRTZ
                | ExecutionMode::RoundingModeRTPINTEL
                | ExecutionMode::RoundingModeRTNINTEL => {
                    "a kernel rounds to nearest even; conversions may carry a rounding of their own"
                }
                ExecutionMode::FloatingPointModeALTINTEL => {
                    "this device's floats are those of IEEE 754"
                }
                ExecutionMode::Initializer | ExecutionMode::Finalizer => {
                    "nothing runs before the first or after the last kernel of a program"
                }
                ExecutionMode::SubgroupsPerWorkgroup | ExecutionMode::SubgroupsPerWorkgroupId => {
                    "require the work-group's size and the sub-group's instead"
                }
                _ => "kernels of this device have no such mode",
            };
            return unsupported(format!("execution mode {other:?}: {why}"));
        }
        None => return unsupported(format!("execution mode {mode} is not known")),
    }
    Ok(())
}

fn argument(
    module: &Module,
    source: &Source<'_>,
    table: &Table,
    id: u32,
    ty: u32,
) -> Res<KernelArg> {
    let ir = table.sized(ty)?;
    let mut arg = KernelArg {
        name: source.name(id),
        kind: ArgKind::Value,
        size: module.types.size_of(ir),
        unpadded: module.types.unpadded_size_of(ir),
        align: module.types.align_of(ir),
    };
    match table.ty(ty)?.kind {
        Kind::Pointer(AddressSpace::Local, _) => arg.kind = ArgKind::Local,
        Kind::Pointer(AddressSpace::Private, _) => {
            let (size, align) = by_value(module, source, table, id, ty)?;
            (arg.size, arg.unpadded) = (size, size);
            arg.align = align;
        }
        Kind::Pointer(..) => arg.kind = ArgKind::Pointer,
        Kind::Event => return unsupported("an event as the argument of a kernel"),
        Kind::Image(_) => arg.kind = ArgKind::Image,
        Kind::Sampler => arg.kind = ArgKind::Sampler,
        Kind::SampledImage(_) => {
            return unsupported("an image with its sampler as the argument of a kernel");
        }
        _ => {}
    }
    if arg.size > 1 << 20 {
        return unsupported(format!("an argument of {} bytes", arg.size));
    }
    Ok(arg)
}

/// Size and alignment of the by-value aggregate behind parameter `id`, a private pointer.
pub(super) fn by_value(
    module: &Module,
    source: &Source<'_>,
    table: &Table,
    id: u32,
    ty: u32,
) -> Res<(u64, u64)> {
    let (_, pointee) = table.pointer(ty)?;
    if pointee == 0 {
        return unsupported("a by-value parameter behind an untyped pointer");
    }
    let content = table.sized(pointee)?;
    let align = source
        .alignment(id)
        .map_or(1, u64::from)
        .max(module.types.align_of(content));
    if !align.is_power_of_two() || align > 4096 {
        return invalid(format!(
            "alignment {align}, a power of two to 4096 is needed"
        ));
    }
    Ok((module.types.size_of(content), align))
}

/// Whether parameter `id` is a by-value aggregate, owned by the callee.
pub(super) fn owns(source: &Source<'_>, id: u32) -> bool {
    source.has_attribute(id, FunctionParameterAttribute::ByVal)
}
