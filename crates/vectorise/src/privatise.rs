//! Privatised atomics: a thread collects its updates of global memory in memory of its own.
//!
//! ```text
//! atomic_add(&bins[x], 1);     becomes     window[x] += 1;                       in each work-item
//!                                          atomic_add(&bins[x], window[x]);      once, at the end, for each x
//! ```
//!
//! It applies to atomic operations whose order is relaxed and whose result is unused: others may see them at any later
//! time. A *window* stands for the bytes behind the address from which such operations count. It is an array on the
//! stack that begins as zeros. It opens when so many operations went to memory one by one that its own cost is small
//! beside theirs. It closes at the end of the kernel's call, or when the same work-item is about to access the memory
//! behind it.

use std::collections::{HashMap, HashSet};

use kernel_ir::index::terms;
use kernel_ir::{
    AddressSpace, AtomicOp, Function, InstId, Module, Op, Order, Scope, Type, ValueId,
};

/// Windows of a kernel: each takes 16 KiB of the first-level cache. Three kernels of two histograms took with two
/// windows 1.4 to 4.4 times as long as with one, and 2.3 times as long as with none; a kernel of three took 2.4 times
/// as long with two as with one (2026-11, AMD EPYC of Zen 4, two processors). Most in dpctl, dpnp and our corpora: 1.
const MOST: usize = 1;

/// The atomic operations of a kernel that are privatised.
#[derive(Default)]
pub struct Privatised {
    /// The window of each, an index into `windows`.
    pub sites: HashMap<InstId, usize>,
    /// Accesses that may touch memory for which a window holds updates: the window closes before them.
    pub guarded: HashSet<InstId>,
    /// The windows.
    pub windows: Vec<Window>,
}

/// Private memory of a thread that stands for a piece of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The operation that brings an element to global memory when the window closes.
    pub op: AtomicOp,
    /// Bytes of an element.
    pub size: u64,
}

/// The operation that adds a window's element to global memory, given the operation that updates it from zero on.
fn combined(op: AtomicOp) -> Option<AtomicOp> {
    match op {
        AtomicOp::IAdd | AtomicOp::ISub => Some(AtomicOp::IAdd),
        AtomicOp::Or | AtomicOp::Xor | AtomicOp::UMax => Some(op),
        _ => None,
    }
}

/// The address that `ptr` is an offset from.
fn root(function: &Function, ptr: ValueId) -> ValueId {
    terms(function, ptr).last().map_or(ptr, |term| term.base)
}

/// The operations of `function` that can be privatised; none where others could notice a change of order.
pub(crate) fn privatised(module: &Module, function: &Function) -> Privatised {
    if !module.uses(kernel_ir::Transform::Privatisation) {
        return Privatised::default();
    }
    let types = &module.types;
    let space = |ptr: ValueId| match types.get(function.ty(ptr)) {
        Type::Ptr(space) => *space,
        _ => AddressSpace::Generic,
    };
    let own = |ptr: ValueId| matches!(space(ptr), AddressSpace::Local | AddressSpace::Private);
    let mut used = vec![false; function.values.len()];
    for block in &function.blocks {
        for inst in &block.insts {
            let op = &function.insts[inst.index()].op;
            op.operands(|v| used[v.index()] = true);
        }
        if let Some(v) = block.term.operand() {
            used[v.index()] = true;
        }
    }
    let mut found = Privatised::default();
    let mut roots: Vec<ValueId> = Vec::new();
    let mut kind = None;
    let mut blocks = Vec::new();
    for (b, block) in function.blocks.iter().enumerate() {
        for (i, &id) in block.insts.iter().enumerate() {
            let inst = &function.insts[id.index()];
            match &inst.op {
                Op::Atomic {
                    op,
                    ptr,
                    value: Some(value),
                    order: Order::Relaxed,
                    ..
                } if !own(*ptr) => {
                    let size = types.size_of(function.ty(*value));
                    let plain = matches!(types.get(function.ty(*value)), Type::Int(32 | 64));
                    let unused = inst.result.is_none_or(|v| !used[v.index()]);
                    let Some(op) = combined(*op).filter(|_| plain && unused) else {
                        return Privatised::default();
                    };
                    // Different operations on one address keep their order.
                    if kind.is_some_and(|kind| kind != (op, size)) {
                        return Privatised::default();
                    }
                    kind = Some((op, size));
                    if space(*ptr) != AddressSpace::Global {
                        continue;
                    }
                    let root = root(function, *ptr);
                    let window = roots.iter().position(|&r| r == root);
                    kernel_ir::reach!(MOST, window.unwrap_or(roots.len()) + 1);
                    let window = match window {
                        Some(window) => window,
                        None if root == *ptr || roots.len() == MOST => continue,
                        None => {
                            roots.push(root);
                            found.windows.push(Window { op, size });
                            roots.len() - 1
                        }
                    };
                    found.sites.insert(id, window);
                    blocks.push((b, i));
                }
                Op::Atomic { ptr, .. } if !own(*ptr) => return Privatised::default(),
                Op::Fence(Scope::Workgroup | Scope::Subgroup | Scope::Invocation, _) => {}
                Op::Fence(..)
                | Op::CopyMemory { .. }
                | Op::Group(..)
                | Op::Call(..)
                | Op::CallIndirect(..) => return Privatised::default(),
                _ => {}
            }
        }
    }
    // Accesses that the same work-item may reach afterwards.
    let mut reached = vec![false; function.blocks.len()];
    let mut work = Vec::new();
    let guard = |insts: &[InstId], guarded: &mut HashSet<InstId>| {
        for &id in insts {
            if let Op::Load { ptr, .. } | Op::Store { ptr, .. } = &function.insts[id.index()].op
                && matches!(space(*ptr), AddressSpace::Global | AddressSpace::Generic)
            {
                guarded.insert(id);
            }
        }
    };
    for &(b, i) in &blocks {
        guard(&function.blocks[b].insts[i + 1..], &mut found.guarded);
        function.blocks[b].term.successors(|to| work.push(to));
    }
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut reached[block.index()], true) {
            continue;
        }
        let block = &function.blocks[block.index()];
        guard(&block.insts, &mut found.guarded);
        block.term.successors(|to| work.push(to));
    }
    found
}
