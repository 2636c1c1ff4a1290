//! Null pointers as kernel arguments: which pointers a kernel accesses without a check, and a variant of the kernel
//! without these accesses.
//!
//! On a GPU an access at null does not fault: a read gives zero, a write is lost. On a processor it does. A launch with
//! null pointers can therefore run a variant of its kernel in which reads through them give zero and writes are
//! removed.
//!
//! Pointers are followed through offsets, address-space casts, phis and selects, but not through integers, calls and
//! memory.

use super::dead_functions::drop_functions;
use super::edit::{Edit, Replacements};
use super::facts::{facts, may_be_written};
use super::optimise::optimise;
use crate::abi::{ArgInfo, KernelInfo};
use crate::build::{BuildError, NullArguments};
use crate::ir::{
    ArgKind, BlockId, ConvertOp, Function, GroupOp, Inst, InstId, Kernel, Module, Op, Terminator,
    ValueDef, ValueId,
};
use crate::types::{Constant, Type};
use std::collections::HashMap;

/// Bytes of the largest copy from null that becomes stores of zeros: a bound on code size. No module of dpctl or dpnp and
/// none of our corpora copies from null (2026-11).
const MAX_ZEROED_BYTES: u64 = 4096;

/// Byte offsets, in the argument block, of the pointers that `kernel` dereferences without comparing them with null:
/// arguments, and fields of by-value arguments. `args` is the layout of the block.
#[must_use]
pub fn unchecked_pointers(module: &Module, kernel: &Kernel, args: &[ArgInfo]) -> Vec<u32> {
    let f = &module.functions[kernel.function.index()];
    let pointers = pointers(module, kernel, args);
    if pointers.is_empty() {
        return Vec::new();
    }
    let mut classes = Classes::new(f.values.len());
    for inst in instructions(f) {
        if let Some(result) = inst.result {
            for source in sources(&inst.op) {
                // One constant may be the null of many pointers.
                if !is_constant(f, source) {
                    classes.join(result, source);
                }
            }
        }
    }
    let mut accessed = vec![false; f.values.len()];
    let mut compared = vec![false; f.values.len()];
    for inst in instructions(f) {
        for address in addresses(&inst.op) {
            accessed[classes.of(address)] = true;
        }
        if let Op::Compare(_, a, b) = inst.op {
            for (pointer, other) in [(a, b), (b, a)] {
                if is_null(module, f, other) {
                    compared[classes.of(before_conversion(f, pointer))] = true;
                }
            }
        }
    }
    let mut all: Vec<(u32, bool, bool)> = pointers
        .into_iter()
        .map(|(pointer, offset)| {
            let class = classes.of(pointer);
            (offset, accessed[class], compared[class])
        })
        .collect();
    all.sort_unstable();
    let same = all.chunk_by(|a, b| a.0 == b.0);
    let unchecked = same.filter(|all| all.iter().any(|p| p.1) && !all.iter().any(|p| p.2));
    unchecked.map(|all| all[0].0).collect()
}

/// Reduces `module`, after [`super::stand_alone`], to one kernel for launches in which certain pointers are null: reads
/// through them give zero, writes and atomics do nothing.
///
/// # Errors
/// The kernel does not exist, or shares variables or functions with the rest of the program. The module is then
/// unusable.
pub fn remove_null_accesses(module: &mut Module, nulls: &NullArguments) -> Result<(), BuildError> {
    reduce_to_kernel(module, nulls.kernel)?;
    let kernel = &module.kernels[0];
    let function = kernel.function;
    let mut layout = KernelInfo::default();
    layout.lay_out_args(&kernel.arg_infos);
    let mut roots = pointers(module, kernel, &layout.args);
    roots.retain(|(_, offset)| nulls.offsets.contains(offset));
    let f = &mut module.functions[function.index()];
    let mut e = Edit::new(&mut module.types, &mut module.constants, f);
    let roots: Vec<ValueId> = roots.into_iter().map(|root| root.0).collect();
    let nulls = Nulls::new(&mut e, &roots);
    remove_accesses(&mut e, &nulls);
    crate::mark!(NullAccesses);
    optimise(module, function);
    Ok(())
}

fn instructions(f: &Function) -> impl Iterator<Item = &Inst> {
    let ids = f.blocks.iter().flat_map(|block| &block.insts);
    ids.map(|id| &f.insts[id.index()])
}

/// The pointers that a launch passes, and their offsets in the argument block.
fn pointers(module: &Module, kernel: &Kernel, args: &[ArgInfo]) -> Vec<(ValueId, u32)> {
    let f = &module.functions[kernel.function.index()];
    let mut all = Vec::new();
    let params = f.params.iter().zip(&kernel.arg_infos).zip(args);
    for (i, ((&param, kind), info)) in params.enumerate() {
        match kind.kind {
            ArgKind::Pointer => all.push((param, info.offset)),
            ArgKind::Value
                if f.by_value.get(i).copied().flatten().is_some() && !may_be_written(f, i) =>
            {
                all.extend(fields(module, f, param, info));
            }
            _ => {}
        }
    }
    all
}

/// Pointers that are loaded from a by-value argument at known offsets.
fn fields(module: &Module, f: &Function, param: ValueId, info: &ArgInfo) -> Vec<(ValueId, u32)> {
    let mut places = HashMap::from([(param, 0_i64)]);
    let mut all = Vec::new();
    for block in f.reverse_post_order() {
        for id in &f.blocks[block.index()].insts {
            let inst = &f.insts[id.index()];
            let Some(result) = inst.result else { continue };
            match &inst.op {
                Op::PtrOffset {
                    ptr,
                    index: None,
                    offset,
                } => {
                    if let Some(at) = places.get(ptr).and_then(|at| at.checked_add(*offset)) {
                        places.insert(result, at);
                    }
                }
                Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, from, _) => {
                    if let Some(&at) = places.get(from) {
                        places.insert(result, at);
                    }
                }
                Op::Load { ptr, .. } if matches!(module.types.get(f.ty(result)), Type::Ptr(_)) => {
                    let at = places.get(ptr).and_then(|at| u32::try_from(*at).ok());
                    if let Some(at) = at.filter(|at| at.saturating_add(8) <= info.size) {
                        all.push((result, info.offset + at));
                    }
                }
                _ => {}
            }
        }
    }
    all
}

/// The operands from which the result of `op` is derived, as a pointer to the same memory.
fn sources(op: &Op) -> Vec<ValueId> {
    match op {
        Op::PtrOffset { ptr: from, .. }
        | Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, from, _)
        | Op::GenericToExplicit(from, _)
        | Op::Copy(from) => vec![*from],
        Op::Phi(incoming) => incoming.iter().map(|(_, from)| *from).collect(),
        Op::Select {
            then, otherwise, ..
        } => vec![*then, *otherwise],
        _ => Vec::new(),
    }
}

/// The addresses that `op` accesses.
fn addresses(op: &Op) -> Vec<ValueId> {
    match op {
        Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } => vec![*ptr],
        Op::CopyMemory { dst, src, .. } => vec![*dst, *src],
        Op::Group(GroupOp::BlockRead | GroupOp::BlockWrite, _, args) => {
            args.first().copied().into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn is_constant(f: &Function, v: ValueId) -> bool {
    matches!(f.values[v.index()].def, ValueDef::Const(_))
}

/// Whether `v` is null, or the integer zero (pointers may be compared as integers).
fn is_null(module: &Module, f: &Function, v: ValueId) -> bool {
    match f.values[v.index()].def {
        ValueDef::Const(id) => {
            matches!(module.constants.get(id), Constant::Null | Constant::Int(0))
        }
        _ => false,
    }
}

/// The pointer that the integer `v` was converted from.
fn before_conversion(f: &Function, v: ValueId) -> ValueId {
    match f.values[v.index()].def {
        ValueDef::Inst(id) => match f.insts[id.index()].op {
            Op::Convert(ConvertOp::PtrToInt, pointer, _) => pointer,
            _ => v,
        },
        _ => v,
    }
}

/// Equivalence classes of pointers that may point to the same memory.
struct Classes(Vec<u32>);

impl Classes {
    fn new(values: usize) -> Self {
        Self((0..values as u32).collect())
    }

    /// The class of a value.
    fn of(&mut self, v: ValueId) -> usize {
        let mut at = v.index();
        while self.0[at] as usize != at {
            // Path halving.
            self.0[at] = self.0[self.0[at] as usize];
            at = self.0[at] as usize;
        }
        at
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b)] = a.min(b) as u32;
    }
}

/// Removes all kernels but `number`, and the functions that it does not need.
fn reduce_to_kernel(module: &mut Module, number: u32) -> Result<(), BuildError> {
    let Some(kernel) = module.kernels.get(number as usize).cloned() else {
        return Err(BuildError::unsupported(
            0,
            format!("the program has no kernel {number}"),
        ));
    };
    let facts = facts(module, &kernel);
    if facts.shares_variables || facts.uses_indirect_calls {
        let name = &kernel.name;
        return Err(BuildError::unsupported(
            0,
            format!("kernel {name:?} has variables or functions in common with its program"),
        ));
    }
    module.kernels = vec![kernel];
    for function in &mut module.functions {
        function.exported = false;
    }
    for global in &mut module.globals {
        global.exported = false;
    }
    drop_functions(module);
    Ok(())
}

/// Which values derive from null pointers.
struct Nulls {
    /// On all paths.
    always: Vec<bool>,
    /// On some paths: for each value a Bool that is true when it does.
    sometimes: HashMap<ValueId, ValueId>,
}

/// Whether a value derives from a null pointer.
#[derive(Clone, Copy)]
enum Null {
    Never,
    When(ValueId),
    Always,
}

impl Nulls {
    fn of(&self, v: ValueId) -> Null {
        if self.always.get(v.index()) == Some(&true) {
            return Null::Always;
        }
        self.sometimes
            .get(&v)
            .map_or(Null::Never, |when| Null::When(*when))
    }

    /// Follows the pointers in `roots`, which are null.
    fn new(e: &mut Edit<'_>, roots: &[ValueId]) -> Self {
        let mut flows: Vec<(ValueId, Vec<ValueId>)> = Vec::new();
        let mut users: Vec<Vec<u32>> = vec![Vec::new(); e.f.values.len()];
        for inst in instructions(e.f) {
            let Some(result) = inst.result else { continue };
            if !matches!(e.ty(result), Type::Ptr(_)) {
                continue;
            }
            let mut from = sources(&inst.op);
            match inst.op {
                // A pointer loaded through null is null itself.
                Op::Load { ptr, .. } => from.push(ptr),
                // A null constant among the inputs derives from null as well.
                Op::Phi(_) | Op::Select { .. } => from.retain(|v| !is_no_address(e, *v)),
                _ => {}
            }
            for source in &from {
                users[source.index()].push(flows.len() as u32);
            }
            flows.push((result, from));
        }
        let mut some = vec![false; e.f.values.len()];
        for root in roots {
            some[root.index()] = true;
        }
        let is_root = some.clone();
        let mut work = roots.to_vec();
        while let Some(v) = work.pop() {
            for &flow in &users[v.index()] {
                let result = flows[flow as usize].0;
                if !std::mem::replace(&mut some[result.index()], true) {
                    work.push(result);
                }
            }
        }
        // A value derives from null on all paths unless another pointer flows into it.
        let mut always = some.clone();
        let mut work: Vec<u32> = (0..flows.len() as u32).collect();
        while let Some(flow) = work.pop() {
            let (result, from) = &flows[flow as usize];
            let stays = is_root[result.index()] || from.iter().all(|v| always[v.index()]);
            if always[result.index()] && !stays {
                always[result.index()] = false;
                work.extend(&users[result.index()]);
            }
        }
        let mut nulls = Self {
            always,
            sometimes: HashMap::new(),
        };
        nulls.insert_tests(e, &some);
        nulls
    }

    /// Inserts the Bools for values that derive from null on `some` paths only.
    fn insert_tests(&mut self, e: &mut Edit<'_>, some: &[bool]) {
        let order = e.f.reverse_post_order();
        let boolean = e.types.bool();
        let mixed = |result: Option<ValueId>, always: &[bool]| {
            result.filter(|v| some[v.index()] && !always[v.index()])
        };
        let mut phis = Vec::new();
        for &block in &order {
            for id in e.f.blocks[block.index()].insts.clone() {
                let inst = &e.f.insts[id.index()];
                if let (Op::Phi(incoming), Some(result)) =
                    (&inst.op, mixed(inst.result, &self.always))
                {
                    let (incoming, word) = (incoming.clone(), inst.word);
                    let (phi, when) = e.make(Op::Phi(Vec::new()), boolean, word);
                    self.sometimes.insert(result, when);
                    phis.push((block, phi, incoming));
                }
            }
        }
        for &block in &order {
            let insts = std::mem::take(&mut e.f.blocks[block.index()].insts);
            let mut kept = Vec::with_capacity(insts.len());
            for id in insts {
                kept.push(id);
                let inst = e.f.insts[id.index()].clone();
                let Some(result) = mixed(inst.result, &self.always) else {
                    continue;
                };
                let when = match inst.op {
                    Op::Phi(_) => continue,
                    Op::Select {
                        cond,
                        then,
                        otherwise,
                    } => {
                        let op = Op::Select {
                            cond,
                            then: self.when(e, then),
                            otherwise: self.when(e, otherwise),
                        };
                        let (select, when) = e.make(op, boolean, inst.word);
                        kept.push(select);
                        when
                    }
                    Op::Load { ptr, .. } => self.when(e, ptr),
                    op => match sources(&op).first() {
                        Some(source) => self.when(e, *source),
                        None => continue,
                    },
                };
                self.sometimes.insert(result, when);
            }
            e.f.blocks[block.index()].insts = kept;
        }
        for (block, phi, incoming) in phis {
            let incoming = incoming.into_iter();
            let incoming = incoming.map(|(from, v)| (from, self.when(e, v))).collect();
            e.f.insts[phi.index()].op = Op::Phi(incoming);
            e.f.blocks[block.index()].insts.insert(0, phi);
        }
    }

    /// A Bool that is true when `v` derives from null.
    fn when(&self, e: &mut Edit<'_>, v: ValueId) -> ValueId {
        let known = match self.of(v) {
            Null::When(when) => return when,
            Null::Always => true,
            Null::Never => is_no_address(e, v),
        };
        let boolean = e.types.bool();
        let known = e.constants.intern(boolean, Constant::Bool(known));
        e.constant(known)
    }
}

/// Whether `v` is a constant and not an address.
fn is_no_address(e: &Edit<'_>, v: ValueId) -> bool {
    let constant = e.const_of(v).map(|id| e.constants.get(id));
    matches!(constant, Some(Constant::Null | Constant::Undef))
}

/// Removes accesses at null addresses, and guards accesses at addresses that may be null by a branch.
fn remove_accesses(e: &mut Edit<'_>, nulls: &Nulls) {
    let original = e.f.blocks.len();
    let mut exit: Vec<BlockId> = (0..original as u32).map(BlockId).collect();
    let mut zeros = Replacements::new(e.f);
    for (b, end) in exit.iter_mut().enumerate() {
        let insts = std::mem::take(&mut e.f.blocks[b].insts);
        let term = std::mem::replace(&mut e.f.blocks[b].term, Terminator::Unreachable);
        let mut at = BlockId(b as u32);
        for id in insts {
            let inst = e.f.insts[id.index()].clone();
            let address = addresses(&inst.op).first().copied();
            match address.map_or(Null::Never, |v| nulls.of(v)) {
                Null::Always => {
                    if let Some(result) = inst.result {
                        let zero = zero_like(e, result);
                        zeros.set(result, zero);
                    }
                }
                Null::When(when) => {
                    let (does, after) = (e.f.add_block(), e.f.add_block());
                    e.f.blocks[at.index()].term = Terminator::CondBr {
                        cond: when,
                        then: after,
                        otherwise: does,
                    };
                    let mut last = does;
                    match inst.result {
                        None => last = keep(e, nulls, does, id, &inst),
                        Some(result) => {
                            let ty = e.f.ty(result);
                            let (copy, found) = e.make(inst.op, ty, inst.word);
                            e.f.blocks[does.index()].insts.push(copy);
                            let zero = zero_like(e, result);
                            // The instruction becomes the phi, so its uses stay valid.
                            e.f.insts[id.index()].op = Op::Phi(vec![(at, zero), (does, found)]);
                            e.f.blocks[after.index()].insts.push(id);
                        }
                    }
                    e.f.blocks[last.index()].term = Terminator::Br(after);
                    at = after;
                }
                Null::Never => at = keep(e, nulls, at, id, &inst),
            }
        }
        e.f.blocks[at.index()].term = term;
        *end = at;
    }
    for block in e.f.blocks.iter().take(original) {
        for &inst in &block.insts {
            if let Op::Phi(incoming) = &mut e.f.insts[inst.index()].op {
                for (from, _) in incoming {
                    *from = exit[from.index()];
                }
            }
        }
    }
    zeros.apply(e.f);
}

/// Zero of the type of `v`.
fn zero_like(e: &mut Edit<'_>, v: ValueId) -> ValueId {
    let zero = e.null(e.f.ty(v));
    e.constant(zero)
}

/// Appends an instruction to `at`; a copy from null becomes stores of zeros. Returns the block for the instructions
/// that follow.
fn keep(e: &mut Edit<'_>, nulls: &Nulls, at: BlockId, id: InstId, inst: &Inst) -> BlockId {
    let copy = match inst.op {
        Op::CopyMemory {
            dst,
            src,
            size,
            align,
        } => e
            .known_int(size)
            .inspect(|size| crate::reach!(MAX_ZEROED_BYTES, *size))
            .filter(|size| *size <= MAX_ZEROED_BYTES)
            .map(|size| (nulls.of(src), dst, size, align)),
        _ => None,
    };
    match copy {
        Some((Null::Always, dst, size, align)) => {
            store_zeros(e, at, dst, size, align, inst.word);
            at
        }
        Some((Null::When(when), dst, size, align)) => {
            let (none, does, after) = (e.f.add_block(), e.f.add_block(), e.f.add_block());
            e.f.blocks[at.index()].term = Terminator::CondBr {
                cond: when,
                then: none,
                otherwise: does,
            };
            store_zeros(e, none, dst, size, align, inst.word);
            e.f.blocks[does.index()].insts.push(id);
            for block in [none, does] {
                e.f.blocks[block.index()].term = Terminator::Br(after);
            }
            after
        }
        _ => {
            e.f.blocks[at.index()].insts.push(id);
            at
        }
    }
}

/// Stores `size` bytes of zero at `dst`, at the end of `block`.
fn store_zeros(e: &mut Edit<'_>, block: BlockId, dst: ValueId, size: u64, align: u64, word: u32) {
    let mut at = 0;
    while at < size {
        let bytes = if size - at >= 8 { 8 } else { 1 };
        let ty = e.f.ty(dst);
        let place = Op::PtrOffset {
            ptr: dst,
            index: None,
            offset: at as i64,
        };
        let ptr = e.append(block, place, ty);
        let value = e.int(bytes as u8 * 8, 0);
        let store = Op::Store {
            ptr,
            value,
            align: align.min(bytes),
            volatile: false,
        };
        e.f.push(block, store, None, word);
        at += bytes;
    }
}
