//! Where lanes meet although the program does not say so.
//!
//! Processors with lanes in lock step forgive a missing barrier between work-items of one sub-group: what all
//! wrote to local memory is there when one of them reads it. Programs rely on that unawares (dpnp's
//! `histogramdd` copies an array with all work-items and sums it with the first). Running lanes one after
//! another would break them; so lanes meet once between writes to local memory and reads of it, where a
//! work-item passes at most once: outside of loops. Only kernels with work-group barriers are treated.

use kernel_ir::{AddressSpace, Function, Op, ValueId};

use crate::order::Shape;
use crate::plan::{StopKind, stop_of};

/// What matters of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Read,
    Write,
    Barrier,
}

/// Per block: positions before which lanes meet; the number of instructions stands for the end.
pub(crate) fn places(
    function: &Function,
    types: &kernel_ir::Types,
    shape: &Shape,
) -> Vec<Vec<usize>> {
    let count = function.blocks.len();
    let mut found = vec![Vec::new(); count];
    let events: Vec<Vec<(usize, Event)>> = function
        .blocks
        .iter()
        .map(|block| {
            let all = block.insts.iter().enumerate();
            all.filter_map(|(at, inst)| {
                event(function, types, &function.insts[inst.index()].op).map(|e| (at, e))
            })
            .collect()
        })
        .collect();
    let has = |wanted: Event| events.iter().flatten().any(|&(_, e)| e == wanted);
    if !(has(Event::Barrier) && has(Event::Read) && has(Event::Write)) {
        return found;
    }
    let mut in_loop = vec![false; count];
    for l in &shape.loops {
        l.members.iter().for_each(|&member| in_loop[member] = true);
    }
    let successors: Vec<Vec<usize>> = function
        .blocks
        .iter()
        .map(|block| {
            let mut list = Vec::new();
            block.term.successors(|to| list.push(to.index()));
            list
        })
        .collect();

    // Whether a read follows the start of a block before the next barrier.
    let mut reads = vec![false; count];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in shape.order.iter().rev() {
            let first = events[block].iter().find(|(_, e)| *e != Event::Write);
            let now = match first {
                Some((_, e)) => *e == Event::Read,
                None => successors[block].iter().any(|&to| reads[to]),
            };
            if now && !reads[block] {
                reads[block] = true;
                changed = true;
            }
        }
    }

    // Whether something may have been written since lanes last met.
    let mut written = vec![false; count];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &shape.order {
            let mut dirty = written[block];
            let mut here = Vec::new();
            let outside = !in_loop[block];
            if outside && dirty && reads[block] {
                here.push(after_phis(function, block));
                dirty = false;
            }
            for &(at, e) in &events[block] {
                match e {
                    Event::Barrier => dirty = false,
                    Event::Write => dirty = true,
                    Event::Read if outside && dirty => {
                        here.push(at);
                        dirty = false;
                    }
                    Event::Read => {}
                }
            }
            let into_loop = |to: &usize| in_loop[*to] && reads[*to];
            if outside && dirty && successors[block].iter().any(into_loop) {
                here.push(function.blocks[block].insts.len());
                dirty = false;
            }
            found[block] = here;
            for &to in &successors[block] {
                if dirty && !written[to] {
                    written[to] = true;
                    changed = true;
                }
            }
        }
    }
    found
}

fn after_phis(function: &Function, block: usize) -> usize {
    let insts = &function.blocks[block].insts;
    insts
        .iter()
        .position(|inst| !matches!(function.insts[inst.index()].op, Op::Phi(_)))
        .unwrap_or(insts.len())
}

fn event(function: &Function, types: &kernel_ir::Types, op: &Op) -> Option<Event> {
    let local = |ptr: ValueId| {
        matches!(
            types.get(function.ty(ptr)),
            kernel_ir::Type::Ptr(AddressSpace::Local)
        )
    };
    match op {
        _ if stop_of(op) == Some(StopKind::Workgroup) => Some(Event::Barrier),
        Op::Load { ptr, .. } if local(*ptr) => Some(Event::Read),
        Op::Store { ptr, .. } | Op::Atomic { ptr, .. } if local(*ptr) => Some(Event::Write),
        Op::CopyMemory { dst, .. } if local(*dst) => Some(Event::Write),
        Op::CopyMemory { src, .. } if local(*src) => Some(Event::Read),
        _ => None,
    }
}
