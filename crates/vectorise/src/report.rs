//! The report on a kernel for its author: how work-items access memory, where they diverge, and why.
//!
//! ```text
//! out[i] = in[index[i]];      load of index: contiguous
//!                             load of in: scattered, "a value loaded from memory decides"
//!                             store: contiguous
//! ```

use kernel_ir::passes::shape::{Shape, Shapes};
use kernel_ir::report::{Access, AccessKind, Branch, Pattern, SourceLocation};
use kernel_ir::{AddressSpace, Builtin, ConvertOp, Function, Module, Op, Terminator, Type};
use kernel_ir::{ValueDef, ValueId};

use crate::input::Input;
use crate::plan::{Plan, RegionPlan};
use crate::region::Region;
use crate::representation::{Chunk, Representations};

/// Operations from a value back to the cause of a difference. A bound on compile time.
const DEPTH: usize = 24;

/// The accesses and divergent branches of all regions, each once, in the module's order.
#[must_use]
pub fn describe(plan: &Plan, input: &Input<'_>) -> (Vec<Access>, Vec<Branch>) {
    let (mut accesses, mut branches) = (Vec::new(), Vec::new());
    for RegionPlan { region, .. } in &plan.regions {
        if let Some(shapes) = &region.shapes {
            // Authors ask about neighbours in a row, also where the code serves any lanes of a sub-group.
            let held = Representations::new(input, plan, region, plan.width, Chunk::Row);
            describe_accesses(input, region, shapes, &held, &mut accesses);
            describe_branches(input.module, region, shapes, &mut branches);
        }
    }
    // A block that several regions hold is one block to the author.
    accesses.sort_by_key(|a| (a.place.word, std::cmp::Reverse(a.pattern)));
    accesses.dedup_by(|b, a| b.place.word != 0 && (b.place.word, b.what) == (a.place.word, a.what));
    branches.sort_by_key(|b| (b.place.word, std::cmp::Reverse(b.is_loop)));
    branches.dedup_by(|b, a| b.place.word != 0 && b.place.word == a.place.word);
    (accesses, branches)
}

fn describe_accesses(
    input: &Input<'_>,
    region: &Region,
    shapes: &Shapes,
    held: &Representations,
    accesses: &mut Vec<Access>,
) {
    let (function, module) = (&region.function, input.module);
    let types = &module.types;
    for &block in region.loops.order() {
        let masked = shapes.is_masked(block);
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            let (what, ptr, value) = match &inst.op {
                Op::Load { ptr, .. } => (AccessKind::Load, *ptr, inst.result),
                Op::Store { ptr, value, .. } => (AccessKind::Store, *ptr, Some(*value)),
                Op::Atomic { ptr, value, .. } => (AccessKind::Atomic, *ptr, value.or(inst.result)),
                _ => continue,
            };
            let bytes = value.map_or(4, |v| types.size_of(function.ty(v)));
            let step = held.at(region, ptr, block).step().map(|(step, _)| step);
            let pattern = match step {
                Some(0) => Pattern::Uniform,
                Some(step) if u64::try_from(step) == Ok(bytes) => Pattern::Contiguous,
                Some(_) => Pattern::Strided,
                None => Pattern::Scattered,
            };
            let why = match pattern {
                Pattern::Scattered => reason(module, function, shapes, ptr),
                Pattern::Strided => step
                    .map(|step| format!("work-items lie {step} bytes apart, each takes {bytes}")),
                _ => None,
            };
            let space = match types.get(function.ty(ptr)) {
                Type::Ptr(AddressSpace::Private) => "private",
                Type::Ptr(AddressSpace::Global) => "global",
                Type::Ptr(AddressSpace::Local) => "local",
                Type::Ptr(AddressSpace::Constant) => "constant",
                _ => "generic",
            };
            accesses.push(Access {
                place: place(inst.word),
                what,
                space: space.to_owned(),
                bytes,
                pattern,
                step,
                masked,
                why,
            });
        }
    }
}

fn describe_branches(
    module: &Module,
    region: &Region,
    shapes: &Shapes,
    branches: &mut Vec<Branch>,
) {
    let function = &region.function;
    for &block in region.loops.order() {
        let divergent = shapes.is_divergent(block) && !region.assumed_uniform.contains(&block);
        let (Terminator::CondBr { cond: by, .. } | Terminator::Switch { value: by, .. }) =
            &function.blocks[block.index()].term
        else {
            continue;
        };
        if divergent {
            let leaves = region.loops.innermost(block).is_some_and(|l| {
                let mut leaves = false;
                function.blocks[block.index()].term.successors(|to| {
                    leaves |= region.loops.innermost(to) != Some(l);
                });
                leaves && shapes.is_divergent_loop(l)
            });
            branches.push(Branch {
                place: place(word_of(function, *by)),
                is_loop: leaves,
                why: reason(module, function, shapes, *by),
            });
        }
    }
}

fn place(word: u32) -> SourceLocation {
    SourceLocation { word, source: None }
}

fn word_of(function: &Function, v: ValueId) -> u32 {
    match function.values[v.index()].def {
        ValueDef::Inst(inst) => function.insts[inst.index()].word,
        _ => 0,
    }
}

/// The first cause, back from `v`, of a difference between lanes without a fixed step.
fn reason(module: &Module, function: &Function, shapes: &Shapes, v: ValueId) -> Option<String> {
    let mut at = v;
    for operations in 0..DEPTH {
        kernel_ir::reach!(DEPTH, operations + 1);
        let ValueDef::Inst(inst) = function.values[at.index()].def else {
            return None;
        };
        let op = &function.insts[inst.index()].op;
        let mut next = None;
        op.operands(|operand| {
            if next.is_none() && shapes.of(operand) == Shape::Varying {
                next = Some(operand);
            }
        });
        // Conditions and addresses are computed from indices: go on with the first operand that has no step.
        let found = match op {
            Op::Load { .. } => Some("a value loaded from memory decides".to_owned()),
            Op::Alloca { .. } => Some("each work-item has its own".to_owned()),
            Op::Atomic { .. } => Some("the result of an atomic operation decides".to_owned()),
            Op::Phi(_) => Some("it depends on the work-item's path".to_owned()),
            Op::Math(math, ..) => Some(format!("the result of {math:?} decides")),
            Op::Group(group, ..) => Some(format!("the result of {group:?} decides")),
            Op::WorkItem(builtin, dimension) => {
                Some(format!("{} decides", work_item(*builtin, *dimension)))
            }
            _ if next.is_some() => None,
            Op::Convert(ConvertOp::SExt | ConvertOp::ZExt, from, _) => Some(format!(
                "a {}-bit index might wrap around",
                8 * module.types.size_of(function.ty(*from))
            )),
            Op::Binary(binary, ..) => Some(format!("{binary:?} of the work-item's id decides")),
            Op::Compare(..) => Some("it compares the work-item's id".to_owned()),
            _ => return None,
        };
        match (found, next) {
            (Some(found), _) => return Some(found),
            (None, Some(operand)) => at = operand,
            (None, None) => return None,
        }
    }
    None
}

fn work_item(builtin: Builtin, dimension: u8) -> String {
    format!("{builtin:?} in dimension {dimension}")
}
