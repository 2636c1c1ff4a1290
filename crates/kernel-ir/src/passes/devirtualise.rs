//! Devirtualisation: a call through a pointer compares the pointer with its likely targets and calls these directly.
//!
//! ```text
//! %r = call_indirect %f(%x)   =>   %is = cmp.ieq %f, @a
//!                                  br_if %is, direct, other
//!                                direct: %r1 = call @a(%x)
//!                                other:  %r2 = call_indirect %f(%x)
//! ```
//!
//! Direct calls are then inlined, vectorised, and may contain barriers. Only recursive functions and pointers to other
//! functions are called out of line.

use super::call_graph::{Components, calls};
use super::edit::Edit;
use super::facts::addressed_functions;
use crate::ir::{BlockId, Function, FunctionId, Inst, Module, Op, Predicate, Terminator, ValueId};
use crate::types::{Constant, TypeId};

/// Instructions of a target, its callees included: a bound on code size; larger ones are called out of line. Largest in
/// our corpora: 8; dpctl and dpnp call nothing through pointers (2026-11).
const MAX_TARGET_INSTRUCTIONS: u64 = 400;
/// Targets that one call is compared with: a bound on code size and on comparisons. Largest in our corpora: 3 (2026-11).
const MAX_TARGETS: usize = 8;

/// Calls through pointers in a function: result and operands.
fn indirect(f: &Function) -> impl Iterator<Item = &Inst> {
    let insts = f.blocks.iter().flat_map(|b| &b.insts);
    insts
        .map(|i| &f.insts[i.index()])
        .filter(|inst| matches!(inst.op, Op::CallIndirect(..)))
}

/// Whether `callee` has the type of this call.
fn fits(caller: &Function, call: &Inst, callee: &Function, void: Option<TypeId>) -> bool {
    let Op::CallIndirect(_, args) = &call.op else {
        return false;
    };
    let result = call.result.map(|r| caller.ty(r));
    result == callee.result.filter(|r| Some(*r) != void)
        && args.len() == callee.params.len()
        && args
            .iter()
            .zip(&callee.params)
            .all(|(&a, &p)| caller.ty(a) == callee.ty(p))
}

/// Compares pointers with their likely targets in all functions of `module`.
pub(super) fn compare_and_call_directly(module: &mut Module) {
    if !module
        .functions
        .iter()
        .any(|f| indirect(f).next().is_some())
    {
        return;
    }
    let void = module.types.find(&crate::types::Type::Void);
    let mut addressed = addressed_functions(module);
    addressed.retain(|f| !module.functions[f.index()].blocks.is_empty());
    let edges: Vec<Vec<usize>> = module
        .functions
        .iter()
        .map(|f| {
            let mut to: Vec<usize> = calls(f).iter().map(|c| c.0.index()).collect();
            for call in indirect(f) {
                let meant = addressed
                    .iter()
                    .filter(|c| fits(f, call, &module.functions[c.index()], void));
                to.extend(meant.map(|c| c.index()));
            }
            to.sort_unstable();
            to.dedup();
            to
        })
        .collect();
    let parts = Components::new(&edges);
    // Callees come first, so their sizes are known.
    let (mut size, mut synchronises) = (vec![0u64; edges.len()], vec![false; edges.len()]);
    for &at in &parts.order {
        let f = &module.functions[at];
        let insts = f.blocks.iter().flat_map(|b| &b.insts);
        synchronises[at] = insts
            .clone()
            .any(|i| matches!(f.insts[i.index()].op, Op::Barrier(_) | Op::Group(..)));
        size[at] = insts.count() as u64;
        for &to in &edges[at] {
            size[at] = size[at].saturating_add(size[to]);
            synchronises[at] |= synchronises[to];
        }
    }
    for at in 0..edges.len() {
        let mut f = std::mem::take(&mut module.functions[at]);
        if indirect(&f).next().is_some() {
            let meant = |f: &Function, call: &Inst| {
                let mut all: Vec<FunctionId> = addressed
                    .iter()
                    .copied()
                    .filter(|c| {
                        let i = c.index();
                        crate::reach!(MAX_TARGET_INSTRUCTIONS, size[i]);
                        // Functions of its own component are recursive.
                        parts.of[i] != parts.of[at]
                            && (synchronises[i] || size[i] <= MAX_TARGET_INSTRUCTIONS)
                            && fits(f, call, &module.functions[i], void)
                    })
                    .collect();
                // Functions with barriers come first: they can only be called directly.
                all.sort_by_key(|c| (!synchronises[c.index()], *c));
                let required = all.iter().filter(|c| synchronises[c.index()]).count();
                crate::reach!(MAX_TARGETS, all.len());
                all.truncate(required.max(MAX_TARGETS));
                all
            };
            let mut edit = Edit::new(&mut module.types, &mut module.constants, &mut f);
            compare_and_call(&mut edit, meant);
        }
        module.functions[at] = f;
    }
}

/// Replaces calls through pointers in one function.
fn compare_and_call(edit: &mut Edit<'_>, meant: impl Fn(&Function, &Inst) -> Vec<FunctionId>) {
    let original = edit.f.blocks.len();
    let mut exit: Vec<BlockId> = (0..original as u32).map(BlockId).collect();
    for (b, end) in exit.iter_mut().enumerate() {
        let insts = std::mem::take(&mut edit.f.blocks[b].insts);
        let term = std::mem::replace(&mut edit.f.blocks[b].term, Terminator::Unreachable);
        let mut at = BlockId(b as u32);
        for id in insts {
            let inst = edit.f.insts[id.index()].clone();
            let targets = match &inst.op {
                Op::CallIndirect(..) => meant(edit.f, &inst),
                _ => Vec::new(),
            };
            let Op::CallIndirect(pointer, args) = &inst.op else {
                edit.f.blocks[at.index()].insts.push(id);
                continue;
            };
            if targets.is_empty() {
                edit.f.blocks[at.index()].insts.push(id);
                continue;
            }
            crate::mark!(Devirtualisation);
            let after = edit.f.add_block();
            let ty = inst.result.map(|r| edit.f.ty(r));
            let mut results: Vec<(BlockId, ValueId)> = Vec::new();
            let known = match edit.const_of(*pointer).map(|c| edit.constants.get(c)) {
                Some(Constant::FunctionAddress(f)) => Some(*f),
                _ => None,
            };
            let mut call = |edit: &mut Edit<'_>, block: BlockId, op: Op| {
                let made = edit.f.push(block, op, ty, inst.word);
                edit.f.blocks[block.index()].term = Terminator::Br(after);
                results.extend(made.map(|v| (block, v)));
            };
            if let Some(known) = known.filter(|f| targets.contains(f)) {
                call(edit, at, Op::Call(known, args.clone()));
            } else {
                for target in targets {
                    let pointer_ty = edit.f.ty(*pointer);
                    let own = edit
                        .constants
                        .intern(pointer_ty, Constant::FunctionAddress(target));
                    let own = edit.constant(own);
                    let bool_ty = edit.types.bool();
                    let same = Op::Compare(Predicate::IEq, *pointer, own);
                    let cond = edit.append(at, same, bool_ty);
                    let (then, otherwise) = (edit.f.add_block(), edit.f.add_block());
                    edit.f.blocks[at.index()].term = Terminator::CondBr {
                        cond,
                        then,
                        otherwise,
                    };
                    call(edit, then, Op::Call(target, args.clone()));
                    at = otherwise;
                }
                call(edit, at, inst.op.clone());
            }
            if inst.result.is_some() {
                // The instruction becomes the phi of the results, so its uses stay valid.
                edit.f.insts[id.index()].op = Op::Phi(results);
                edit.f.blocks[after.index()].insts.push(id);
            }
            at = after;
        }
        edit.f.blocks[at.index()].term = term;
        *end = at;
    }
    for block in edit.f.blocks.iter().take(original) {
        for &inst in &block.insts {
            if let Op::Phi(incoming) = &mut edit.f.insts[inst.index()].op {
                for (from, _) in incoming {
                    *from = exit[from.index()];
                }
            }
        }
    }
}
