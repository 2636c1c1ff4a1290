//! The memory that a kernel writes.
//!
//! - The arguments through which it writes: reads through the others cannot race, unless two of them point into one
//!   allocation, which only a launch tells.
//! - Whether the runtime learns of each write before it happens, so that a launch can be undone.

use std::collections::HashSet;

use crate::ir::{CheckOp, ConvertOp, Function, GroupOp, Kernel, Module, Op, ValueDef, ValueId};
use crate::passes::roots::{Root, Roots};
use crate::types::{AddressSpace, Constant, Type, Types};

/// The arguments that a kernel writes through; `None` if it also writes through other pointers to global memory.
pub(super) fn written(types: &Types, f: &Function, roots: &Roots) -> Option<HashSet<u32>> {
    let mut all = HashSet::new();
    for id in f.blocks.iter().flat_map(|block| &block.insts) {
        match &f.insts[id.index()].op {
            Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CopyMemory { dst: ptr, .. } => {
                if let Some(argument) = through(types, f, roots, *ptr)? {
                    all.insert(argument);
                }
            }
            Op::Call(..) | Op::CallIndirect(..) => return None,
            Op::Group(GroupOp::BlockRead, ..) => {}
            Op::Group(_, _, args) => {
                for &arg in args {
                    if matches!(types.get(f.ty(arg)), Type::Ptr(_))
                        && let Some(argument) = through(types, f, roots, arg)?
                    {
                        all.insert(argument);
                    }
                }
            }
            _ => {}
        }
    }
    Some(all)
}

/// The argument that a written pointer comes from; `Some(None)` for memory of a work-item or group and for images, `None` if
/// it is not known.
#[expect(clippy::option_option, reason = "not known is not none")]
fn through(types: &Types, f: &Function, roots: &Roots, ptr: ValueId) -> Option<Option<u32>> {
    let is_own = matches!(
        types.get(f.ty(ptr)),
        Type::Ptr(AddressSpace::Private | AddressSpace::Local)
    );
    match roots.of(ptr) {
        Some(Root::Argument(n)) => Some(Some(n)),
        Some(Root::Private(..) | Root::Variable(..) | Root::Image) => Some(None),
        _ if is_own => Some(None),
        Some(Root::Value(root)) if is_shadow(f, root, &mut HashSet::new()) => Some(None),
        _ => None,
    }
}

/// Whether a pointer leads to a shadow, which no access of the program reaches. `seen`: the pointers above it.
fn is_shadow(f: &Function, ptr: ValueId, seen: &mut HashSet<ValueId>) -> bool {
    let ValueDef::Inst(inst) = f.values[ptr.index()].def else {
        return false;
    };
    if !seen.insert(ptr) {
        return true;
    }
    let mut all = |v: ValueId| is_shadow(f, v, seen);
    match &f.insts[inst.index()].op {
        Op::Check(CheckOp::ArgumentShadow(_) | CheckOp::AllocationShadow, _) => true,
        Op::PtrOffset { ptr, .. } => all(*ptr),
        Op::Copy(v) | Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, v, _) => all(*v),
        Op::Select {
            then, otherwise, ..
        } => all(*then) && all(*otherwise),
        Op::Phi(incoming) => incoming.iter().all(|&(_, v)| all(v)),
        _ => false,
    }
}

/// The arguments that a kernel with checks writes through; all where that is not known. Empty for other kernels.
#[must_use]
pub fn written_arguments(module: &Module, kernel: &Kernel) -> Vec<u32> {
    let f = &module.functions[kernel.function.index()];
    let mut insts = f.blocks.iter().flat_map(|block| &block.insts);
    if !insts.any(|id| matches!(f.insts[id.index()].op, Op::Check(..))) {
        return Vec::new();
    }
    let roots = Roots::new(&module.types, &module.globals, &kernel.arg_infos, f);
    let mut all: Vec<u32> = match written(&module.types, f, &roots) {
        Some(written) => written.into_iter().collect(),
        None => (0..f.params.len() as u32).collect(),
    };
    all.sort_unstable();
    all
}

/// Whether checks of races tell each write of a kernel to memory that outlives the work-group before it happens, and the
/// kernel prints nothing: a launch can then be undone and repeated. `false` for kernels without checks.
#[must_use]
pub fn can_be_repeated(module: &Module, kernel: &Kernel) -> bool {
    let f = &module.functions[kernel.function.index()];
    let roots = Roots::new(&module.types, &module.globals, &kernel.arg_infos, f);
    let is_own = |ptr: ValueId| {
        let space = module.types.get(f.ty(ptr));
        matches!(
            space,
            Type::Ptr(AddressSpace::Private | AddressSpace::Local)
        ) || roots.is_private(ptr)
    };
    let is_known = |v: ValueId| match f.values[v.index()].def {
        ValueDef::Const(c) => matches!(module.constants.get(c), Constant::Int(_)),
        _ => false,
    };
    let mut has_checks = false;
    let mut ops = f
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .map(|id| &f.insts[id.index()].op);
    let is_told = ops.all(|op| match op {
        Op::Check(..) => {
            has_checks = true;
            true
        }
        // Accesses to images are not told, and copies whose size is not known are not.
        Op::Store { ptr, .. } | Op::Atomic { ptr, .. } => !roots.is_image(*ptr),
        Op::CopyMemory { dst, size, .. } => {
            is_own(*dst) || (!roots.is_image(*dst) && is_known(*size))
        }
        Op::Group(GroupOp::BlockWrite, _, args) => args.iter().all(|&ptr| !roots.is_image(ptr)),
        Op::Call(..) | Op::CallIndirect(..) | Op::Printf(..) => false,
        _ => true,
    });
    is_told && has_checks
}
