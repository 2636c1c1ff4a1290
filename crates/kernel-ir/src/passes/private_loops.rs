//! Unrolls short loops over private arrays, so that [`super::promote`] can turn the arrays into values.
//!
//! One index that is not a constant keeps a whole variable in memory. DPC++ emits such loops for every array that a
//! kernel captures and for vectors:
//!
//! ```text
//! head: %i = phi entry: 0, head: %next        store %copy + 104, %x0
//!       %to = offset %copy [%i * 8 + 104]     store %copy + 112, %x1
//!       store %to, %x                    =>
//!       %next = iadd %i, 1
//!       br_if (%next == 2), after, head
//! ```
//!
//! All loops of a variable are unrolled, or none: one index that stays keeps the variable in memory.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::counted_loops::{Counted, Tables, phis};
use super::edit::Edit;
use super::simplify::simplify;
use crate::cfg::{Cfg, Dominators, Loops};
use crate::ir::{BlockId, ConvertOp, Function, GroupScope, InstId, Op, Scope, ValueDef, ValueId};
use crate::types::Type;

/// Instructions that unrolling may add to a function. dpnp's element-wise kernels take up to 300. Its scans of eight
/// elements a work-item take 540 to 1090, and `cumsum` of 4M values ran 1.3 (f64) and 1.6 (i64) times as long with those
/// arrays as values (Xeon of 2.5 GHz with AVX-512, 11/2026).
const MAX_ADDED_INSTRUCTIONS: usize = 512;
/// Loops of a function, counting copies of nested loops: a bound on compile time for hostile modules. Largest in 17,722
/// modules of dpctl and dpnp: 11; in our corpora: 1 (2026-11).
const MAX_UNROLLED_LOOPS: usize = 64;
/// Values visited behind the indices of one variable: a bound on compile time. Largest in 17,722 modules of dpctl and
/// dpnp: 30; in our corpora: 5 (2026-11).
const MAX_INDEX_VALUES: usize = 256;
/// Operations from an index back to a loop's phi: `(i * 4 + j) & 7`, widened, has five. Largest in 17,722 modules of dpctl
/// and dpnp: 10 (2026-11).
const INDEX_DEPTH: usize = 12;

/// The instructions that unrolling may still add to a function.
pub(super) struct Budget {
    instructions: usize,
    loops: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            instructions: MAX_ADDED_INSTRUCTIONS,
            loops: MAX_UNROLLED_LOOPS,
        }
    }
}

/// Unrolls such loops; returns whether there were any.
pub(super) fn unroll(e: &mut Edit<'_>, budget: &mut Budget) -> bool {
    let mut changed = false;
    while budget.loops > 0 {
        let Some((counted, added)) = find(e, budget.instructions) else {
            break;
        };
        budget.instructions -= added;
        budget.loops -= 1;
        crate::reach!(MAX_UNROLLED_LOOPS, MAX_UNROLLED_LOOPS - budget.loops);
        crate::mark!(PrivateLoops);
        counted.peel_first(e.f, counted.iterations.len());
        simplify(e);
        changed = true;
    }
    changed
}

/// The uses of one alloca.
#[derive(Default)]
struct Private {
    /// The indices that are not constants.
    indices: Vec<ValueId>,
    /// Whether an address is used by anything but loads and stores.
    escapes: bool,
}

/// The first loop to unroll, the outermost one of its variable, and the instructions that it adds.
fn find(e: &Edit<'_>, budget: usize) -> Option<(Counted, usize)> {
    let is_alloca = |inst: &InstId| matches!(e.f.insts[inst.index()].op, Op::Alloca { .. });
    if !e.f.blocks.first()?.insts.iter().any(is_alloca) {
        return None;
    }
    let cfg = Cfg::new(e.f);
    let privates = privates(e, &cfg);
    let wanted = |p: &&Private| !p.escapes && !p.indices.is_empty();
    if !privates.iter().any(|p| wanted(&p)) {
        return None;
    }
    let loops = Loops::new(&cfg);
    if loops.loops.is_empty() {
        return None;
    }
    let dominators = Dominators::new(&cfg);
    let tables = Tables {
        types: e.types,
        constants: e.constants,
    };
    let mut headers = HashMap::new();
    for (l, this) in loops.loops.iter().enumerate() {
        let phis = phis(e.f, this.header).into_iter();
        headers.extend(phis.map(|(inst, ..)| (inst, l as u32)));
    }
    let counted = |l: u32| {
        let blocks = &loops.loops[l as usize].blocks;
        (size(e.f, blocks) <= budget && !has_barriers(e.f, blocks))
            .then(|| Counted::find(tables, e.f, &cfg, &dominators, &loops, l))?
    };
    let mut search = Search {
        e,
        headers,
        counted: &counted,
        known: HashMap::new(),
        found: BTreeSet::new(),
        seen: HashSet::new(),
    };
    for private in privates.iter().filter(wanted) {
        search.found.clear();
        search.seen.clear();
        if !private
            .indices
            .iter()
            .all(|&v| search.index(v, INDEX_DEPTH))
        {
            continue;
        }
        let chosen: Vec<(u32, &Counted)> = search
            .found
            .iter()
            .filter_map(|l| Some((*l, search.known.get(l)?.as_ref()?)))
            .collect();
        // Each loop is copied in every iteration of those around it.
        let cost = |&(_, inner): &(u32, &Counted)| {
            let around = chosen
                .iter()
                .filter(|(l, _)| loops.contains(*l, inner.this.header))
                .map(|(_, outer)| outer.iterations.len());
            around.fold(size(e.f, &inner.this.blocks), usize::saturating_mul)
        };
        let total = chosen.iter().map(cost).fold(0, usize::saturating_add);
        let outermost = chosen
            .iter()
            .min_by_key(|(_, c)| loops.depth(c.this.header));
        if total <= budget
            && let Some(&(l, one)) = outermost
        {
            let added = size(e.f, &one.this.blocks) * (one.iterations.len() - 1);
            return search.known.remove(&l)?.map(|c| (c, added));
        }
    }
    None
}

/// Instructions and terminators of blocks.
pub(super) fn size(f: &Function, blocks: &[BlockId]) -> usize {
    let of = blocks.iter().map(|b| f.blocks[b.index()].insts.len() + 1);
    of.sum()
}

/// Whether the blocks have a barrier: back ends compile the code between two barriers like a kernel of its own, and
/// copies multiply that.
pub(super) fn has_barriers(f: &Function, blocks: &[BlockId]) -> bool {
    let mut insts = blocks.iter().flat_map(|b| &f.blocks[b.index()].insts);
    insts.any(|inst| match &f.insts[inst.index()].op {
        Op::Barrier(scope) => *scope != Scope::Subgroup,
        Op::Group(_, scope, _) => *scope != GroupScope::Subgroup,
        _ => false,
    })
}

/// The allocas of a function, which stand in its entry block.
fn privates(e: &Edit<'_>, cfg: &Cfg) -> Vec<Private> {
    let f = &*e.f;
    let mut privates: Vec<Private> = Vec::new();
    let mut of: HashMap<ValueId, usize> = HashMap::new();
    for block in cfg.reverse_post_order() {
        for &inst in &f.blocks[block.index()].insts {
            let entry = &f.insts[inst.index()];
            // The pointer that the result is derived from, and the index.
            let derived = match &entry.op {
                Op::Alloca { .. } => {
                    if let Some(result) = entry.result {
                        of.insert(result, privates.len());
                        privates.push(Private::default());
                    }
                    continue;
                }
                Op::PtrOffset { ptr, index, .. } => Some((*ptr, index.map(|i| i.0))),
                Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, ptr, _) => {
                    Some((*ptr, None))
                }
                _ => None,
            };
            match (derived, &entry.op) {
                (Some((ptr, index)), _) => {
                    let Some(&private) = of.get(&ptr) else {
                        continue;
                    };
                    let changing = index.filter(|&i| e.const_of(i).is_none());
                    privates[private].indices.extend(changing);
                    match entry.result {
                        Some(result) if matches!(e.ty(result), Type::Ptr(_)) => {
                            of.insert(result, private);
                        }
                        _ => privates[private].escapes = true,
                    }
                }
                (None, Op::Load { .. }) => {}
                (None, Op::Store { value, .. }) => escape(&mut privates, &of, *value),
                (None, Op::CopyMemory { size, .. }) if e.known_int(*size).is_some() => {}
                (None, op) => op.operands(|v| escape(&mut privates, &of, v)),
            }
        }
        if let Some(v) = f.blocks[block.index()].term.operand() {
            escape(&mut privates, &of, v);
        }
    }
    // A phi may use an address that is defined later.
    for block in &f.blocks {
        for &inst in &block.insts {
            if let op @ Op::Phi(_) = &f.insts[inst.index()].op {
                op.operands(|v| escape(&mut privates, &of, v));
            }
        }
    }
    privates
}

fn escape(privates: &mut [Private], of: &HashMap<ValueId, usize>, v: ValueId) {
    if let Some(&private) = of.get(&v) {
        privates[private].escapes = true;
    }
}

/// Finds the loops that decide an index.
struct Search<'e, 'm> {
    e: &'e Edit<'m>,
    /// The loop of each header's phi.
    headers: HashMap<InstId, u32>,
    counted: &'e dyn Fn(u32) -> Option<Counted>,
    /// The loops that were looked up.
    known: HashMap<u32, Option<Counted>>,
    found: BTreeSet<u32>,
    seen: HashSet<ValueId>,
}

impl Search<'_, '_> {
    /// Whether `v` is computed from constants and phis of counted loops; collects these loops.
    fn index(&mut self, v: ValueId, depth: usize) -> bool {
        let inst = match self.e.f.values[v.index()].def {
            ValueDef::Const(_) => return true,
            ValueDef::Inst(inst) if depth > 0 => inst,
            _ => return false,
        };
        if !self.seen.insert(v) {
            return true;
        }
        crate::reach!(MAX_INDEX_VALUES, self.seen.len());
        crate::reach!(INDEX_DEPTH, INDEX_DEPTH + 1 - depth);
        if self.seen.len() > MAX_INDEX_VALUES {
            return false;
        }
        match &self.e.f.insts[inst.index()].op {
            Op::Phi(_) => {
                let Some(&l) = self.headers.get(&inst) else {
                    return false;
                };
                self.found.insert(l);
                crate::reach!(MAX_UNROLLED_LOOPS, self.found.len());
                if self.found.len() > MAX_UNROLLED_LOOPS {
                    return false;
                }
                let counted = self.counted;
                let known = self.known.entry(l).or_insert_with(|| counted(l));
                known.as_ref().is_some_and(|counted| {
                    counted
                        .iterations
                        .iter()
                        .all(|known| known.contains_key(&v))
                })
            }
            op @ (Op::Binary(..)
            | Op::Unary(..)
            | Op::Compare(..)
            | Op::Select { .. }
            | Op::Convert(..)) => {
                let mut operands = Vec::new();
                op.operands(|v| operands.push(v));
                operands.into_iter().all(|v| self.index(v, depth - 1))
            }
            _ => false,
        }
    }
}
