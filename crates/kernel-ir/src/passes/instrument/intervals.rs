//! Reads of local memory that need no check: between two barriers nothing writes what they read.
//!
//! ```text
//! tile[i] = x            interval from the start:     writes tile
//! barrier
//! y = tile[i] * tile[j]  interval from the barrier:   only reads tile: no work-item can race here
//! barrier
//! ```
//!
//! An interval is all that a work-item may execute from a barrier, or the start, to the next one. Work-items of a group
//! execute the same interval at the same time, whatever its branches.

use std::collections::HashSet;

use super::stops::is_group_stop;
use crate::ir::{BlockId, Function, InstId, Op, ValueId};
use crate::passes::roots::{Root, Roots};
use crate::types::{AddressSpace, Type, Types};

/// Intervals of a kernel above which nothing is left out. Not measured: a bound on compile time, for kernels that were
/// unrolled over barriers.
const MOST_INTERVALS: usize = 64;

/// The memory that an interval writes.
#[derive(Default)]
struct Written {
    roots: HashSet<Root>,
    /// Through a pointer that may point anywhere.
    anything: bool,
}

/// The reads that need no check.
pub(super) fn quiet_reads(types: &Types, f: &Function, roots: &Roots) -> HashSet<InstId> {
    let mut starts = vec![(BlockId(0), 0)];
    for (b, block) in f.blocks.iter().enumerate() {
        for (at, id) in block.insts.iter().enumerate() {
            if is_group_stop(&f.insts[id.index()].op) {
                starts.push((BlockId(b as u32), at + 1));
            }
        }
    }
    let has_calls = f
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .any(|id| matches!(f.insts[id.index()].op, Op::Call(..) | Op::CallIndirect(..)));
    // Functions that are called may write anything.
    if has_calls || starts.len() > MOST_INTERVALS {
        return HashSet::new();
    }
    let mut quiet = HashSet::new();
    let mut loud = HashSet::new();
    for start in starts {
        let insts = interval(f, start);
        let mut written = Written::default();
        for &id in &insts {
            if let Some(ptr) = written_through(&f.insts[id.index()].op) {
                match local_root(types, f, roots, ptr) {
                    Some(root) => {
                        written.roots.insert(root);
                    }
                    None => written.anything |= may_be_local(types, f, roots, ptr),
                }
            }
        }
        for &id in &insts {
            let Op::Load { ptr, .. } = f.insts[id.index()].op else {
                continue;
            };
            let is_quiet = local_root(types, f, roots, ptr)
                .is_some_and(|root| !written.anything && !written.roots.contains(&root));
            match is_quiet {
                true => quiet.insert(id),
                false => loud.insert(id),
            };
        }
    }
    quiet.retain(|id| !loud.contains(id));
    quiet
}

/// The instructions from a place to the next barriers.
fn interval(f: &Function, (block, from): (BlockId, usize)) -> Vec<InstId> {
    let mut insts = Vec::new();
    let mut entered = vec![false; f.blocks.len()];
    let mut open = vec![(block, from)];
    while let Some((block, from)) = open.pop() {
        let block = &f.blocks[block.index()];
        let rest = &block.insts[from..];
        let stop = rest
            .iter()
            .position(|id| is_group_stop(&f.insts[id.index()].op));
        insts.extend(&rest[..stop.unwrap_or(rest.len())]);
        if stop.is_none() {
            block.term.successors(|to| {
                if !std::mem::replace(&mut entered[to.index()], true) {
                    open.push((to, 0));
                }
            });
        }
    }
    insts
}

/// The pointer that an operation writes through.
fn written_through(op: &Op) -> Option<ValueId> {
    match op {
        Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CopyMemory { dst: ptr, .. } => {
            Some(*ptr)
        }
        _ => None,
    }
}

/// The root of a pointer into local memory, if it is an argument or a variable.
fn local_root(types: &Types, f: &Function, roots: &Roots, ptr: ValueId) -> Option<Root> {
    let root = roots.of(ptr)?;
    let base = match root {
        Root::Argument(n) => *f.params.get(n as usize)?,
        Root::Variable(v, ..) => v,
        Root::Private(..) | Root::Image | Root::Value(_) => return None,
    };
    (*types.get(f.ty(base)) == Type::Ptr(AddressSpace::Local)).then_some(root)
}

/// Whether a pointer without such a root may point into local memory.
fn may_be_local(types: &Types, f: &Function, roots: &Roots, ptr: ValueId) -> bool {
    match types.get(f.ty(ptr)) {
        Type::Ptr(AddressSpace::Local) => true,
        Type::Ptr(AddressSpace::Generic) => !roots.is_private(ptr),
        _ => false,
    }
}
