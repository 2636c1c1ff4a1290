//! The root of each pointer: the pointer that its address was computed from.
//!
//! A phi or select of pointers with one common root has that root; otherwise it is a root itself, whose allocation is
//! found when the kernel runs.

use crate::ir::{ArgKind, ConvertOp, Function, Global, GlobalId, KernelArg, Op, ValueDef, ValueId};
use crate::types::{Type, Types};

/// The pointer that an address was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    /// A pointer argument.
    Argument(u32),
    /// A variable, and its bytes.
    Variable(ValueId, GlobalId, u64),
    /// A private array, or a by-value argument, and its bytes.
    Private(ValueId, u64),
    /// An image: its record, and its texels, whose address is loaded from there.
    Image,
    /// Any other pointer.
    Value(ValueId),
}

pub(super) struct Roots {
    of: Vec<Option<Root>>,
}

impl Roots {
    /// `arguments`: those of the kernel, as the host sees them.
    pub(super) fn new(
        types: &Types,
        globals: &[Global],
        arguments: &[KernelArg],
        f: &Function,
    ) -> Self {
        let mut of: Vec<Option<Root>> = (0..f.values.len() as u32)
            .map(|i| own_root(types, globals, arguments, f, ValueId(i)))
            .collect();
        let order = f.reverse_post_order();
        // Roots of phis only go from unknown to known to the phi itself: two rounds per nesting of loops.
        loop {
            let mut changed = false;
            for &block in &order {
                for inst in &f.blocks[block.index()].insts {
                    let inst = &f.insts[inst.index()];
                    let Some(result) = inst.result.filter(|&r| is_pointer(types, f, r)) else {
                        continue;
                    };
                    let root = derived(&inst.op, result, &of);
                    if root.is_some() && of[result.index()] != root {
                        // Once a root of its own, it stays one.
                        if of[result.index()] != Some(Root::Value(result)) {
                            of[result.index()] = root;
                            changed = true;
                        }
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Self { of }
    }

    /// As [`Self::new`], of a function that kernels call: its arguments are none of the launch.
    pub(super) fn of_callee(types: &Types, globals: &[Global], f: &Function) -> Self {
        let mut roots = Self::new(types, globals, &[], f);
        for root in roots.of.iter_mut().flatten() {
            if let Root::Argument(at) = *root
                && let Some(&param) = f.params.get(at as usize)
            {
                *root = Root::Value(param);
            }
        }
        roots
    }

    /// The root of `ptr`; `None` for constants such as null, and for values that the pass has made.
    pub(super) fn of(&self, ptr: ValueId) -> Option<Root> {
        self.of.get(ptr.index()).copied().flatten()
    }

    /// A pointer that the pass has made has this root.
    pub(super) fn derive(&mut self, ptr: ValueId, root: Option<Root>) {
        if self.of.len() <= ptr.index() {
            self.of.resize(ptr.index() + 1, None);
        }
        self.of[ptr.index()] = root;
    }

    /// Whether it points to an image's record or texels.
    pub(super) fn is_image(&self, ptr: ValueId) -> bool {
        self.of(ptr) == Some(Root::Image)
    }

    pub(super) fn is_private(&self, ptr: ValueId) -> bool {
        matches!(self.of(ptr), Some(Root::Private(..)))
    }
}

fn is_pointer(types: &Types, f: &Function, v: ValueId) -> bool {
    matches!(types.get(f.ty(v)), Type::Ptr(_))
}

/// The root of a value that is not computed from a pointer.
fn own_root(
    types: &Types,
    globals: &[Global],
    arguments: &[KernelArg],
    f: &Function,
    v: ValueId,
) -> Option<Root> {
    if !is_pointer(types, f, v) {
        return None;
    }
    match f.values[v.index()].def {
        ValueDef::Param(at) => Some(match f.by_value.get(at as usize).copied().flatten() {
            Some(size) => Root::Private(v, size),
            None => match arguments.get(at as usize) {
                Some(argument) if argument.kind == ArgKind::Image => Root::Image,
                _ => Root::Argument(at),
            },
        }),
        ValueDef::Global(id) => {
            let global = globals.get(id.index()).filter(|g| !g.per_work_item)?;
            Some(Root::Variable(v, id, global.size))
        }
        ValueDef::Inst(inst) => match f.insts[inst.index()].op {
            Op::Alloca { size, .. } => Some(Root::Private(v, size)),
            _ => None,
        },
        ValueDef::Const(_) => None,
    }
}

/// The root of the result of `op`, as far as it is known.
fn derived(op: &Op, result: ValueId, of: &[Option<Root>]) -> Option<Root> {
    let root = |v: ValueId| of[v.index()];
    match op {
        Op::Alloca { .. } => root(result),
        Op::PtrOffset { ptr, .. } => root(*ptr),
        Op::Load { ptr, .. } if root(*ptr) == Some(Root::Image) => Some(Root::Image),
        Op::Copy(v)
        | Op::GenericToExplicit(v, _)
        | Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, v, _) => {
            root(*v).or(Some(Root::Value(result)))
        }
        Op::Select {
            then, otherwise, ..
        } => joined([*then, *otherwise].into_iter(), result, of),
        Op::Phi(incoming) => joined(incoming.iter().map(|&(_, v)| v), result, of),
        _ => Some(Root::Value(result)),
    }
}

fn joined(
    values: impl Iterator<Item = ValueId>,
    result: ValueId,
    of: &[Option<Root>],
) -> Option<Root> {
    let mut common = None;
    for root in values.filter_map(|v| of[v.index()]) {
        if *common.get_or_insert(root) != root {
            return Some(Root::Value(result));
        }
    }
    common
}
