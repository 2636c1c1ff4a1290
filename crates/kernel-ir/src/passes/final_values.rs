//! Final values: behind a loop with a known number of iterations, integers that the loop computes are constants.
//!
//! ```text
//! head: %off = phi before: 1, head: %next         after: %x = lshr 512, 1
//!       %d = phi before: 256, head: %half
//!       %next = shl %off, 1                 =>
//!       %half = lshr %d, 1
//!       br_if (%half == 0), after, head
//! after: %x = lshr %next, 1
//! ```
//!
//! A scan of two loops counts down in the second one from where the first one ended: its strides are known then, and
//! [`super::peel`] can peel it.

use super::counted_loops::{Counted, Tables};
use super::edit::{Edit, compact};
use super::simplify::simplify;
use crate::cfg::{Cfg, Dominators, Loops};
use crate::ir::{BlockId, FunctionId, Module, Op, ValueId};
use crate::types::Type;

/// Replaces such values of a function; returns whether there were any.
pub(super) fn fix(module: &mut Module, id: FunctionId) -> bool {
    let f = &mut module.functions[id.index()];
    let e = &mut Edit::new(&mut module.types, &mut module.constants, f);
    let cfg = Cfg::new(e.f);
    let loops = Loops::new(&cfg);
    if loops.loops.is_empty() {
        return false;
    }
    let dominators = Dominators::new(&cfg);
    let mut changed = false;
    for l in 0..loops.loops.len() as u32 {
        let tables = Tables {
            types: e.types,
            constants: e.constants,
        };
        let Some(counted) = Counted::find(tables, e.f, &cfg, &dominators, &loops, l) else {
            continue;
        };
        let Some(last) = counted.iterations.last() else {
            continue;
        };
        for &block in cfg.reverse_post_order() {
            if !loops.contains(l, block) {
                changed |= replace_in(e, block, |v| last.get(&v).copied());
            }
        }
    }
    crate::mark!(FinalValues, changed);
    if changed {
        simplify(e);
        compact(e.f);
    }
    changed
}

/// Replaces operands in `block` whose final values are known.
fn replace_in(e: &mut Edit<'_>, block: BlockId, known: impl Fn(ValueId) -> Option<u64>) -> bool {
    let mut found: Vec<ValueId> = Vec::new();
    let mut see = |v: ValueId| found.extend(known(v).map(|_| v));
    for inst in &e.f.blocks[block.index()].insts {
        e.f.insts[inst.index()].op.operands(&mut see);
    }
    let mut changed = false;
    for v in found {
        let (Some(number), &Type::Int(bits)) = (known(v), e.ty(v)) else {
            continue;
        };
        let constant = e.int(bits, number);
        for k in 0..e.f.blocks[block.index()].insts.len() {
            let inst = e.f.blocks[block.index()].insts[k];
            let op: &mut Op = &mut e.f.insts[inst.index()].op;
            op.operands_mut(|operand| {
                if *operand == v {
                    *operand = constant;
                    changed = true;
                }
            });
        }
    }
    changed
}
