//! The executable form of a function: instructions in one flat list, values as registers of a frame, constants in a
//! template of the frame, phis as moves on the edges.
//!
//! Blocks are in loop-contiguous reverse post-order: the blocks of a loop come before the blocks after the loop, and a
//! join comes after the blocks that reach it. The position in the list is therefore the priority of diverged lanes: the
//! smallest runs next.

use super::layout::{Flats, Late, MAX_SLOTS, constant, scalar_count, scalar_kind, too_large};
use super::number::Kind;
use crate::abi::KernelInfo;
use crate::abi::callable::Signatures;
use crate::build::BuildError;
use crate::ir::*;
use crate::passes::{KernelFacts, loop_contiguous_order, unchecked_pointers};
use crate::types::{AddressSpace, Type, TypeId};
use std::collections::HashMap;

/// Index of a register in a frame.
pub(super) type Slot = u32;
/// No slot.
pub(super) const NONE: Slot = u32::MAX;
/// A jump and the phi moves that it makes.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) target: u32,
    /// (to, from), read before any is written.
    pub(super) moves: Box<[(Slot, Slot)]>,
}

/// An argument of printf.
#[derive(Clone, Debug)]
pub(super) struct PrintfArg {
    pub(super) slot: Slot,
    pub(super) kind: Kind,
    pub(super) lanes: u32,
    pub(super) pointer: bool,
    /// The conversion that reads it is `%s`.
    pub(super) string: bool,
}

/// Group operation, operands by position.
#[derive(Clone, Debug)]
pub(super) struct GroupCode {
    pub(super) op: GroupOp,
    pub(super) scope: GroupScope,
    pub(super) args: [Slot; 3],
    /// Kind and lane count of the value operand (of the result for `BlockRead`).
    pub(super) kind: Kind,
    pub(super) lanes: u32,
    pub(super) dst: Slot,
}

/// One step of a lane. `n` is the number of scalars worked on.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Binary {
        op: BinaryOp,
        kind: Kind,
        n: u32,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Unary {
        op: UnaryOp,
        kind: Kind,
        n: u32,
        dst: Slot,
        a: Slot,
    },
    /// `AnyLane`, `AllLanes`.
    Lanes {
        all: bool,
        n: u32,
        dst: Slot,
        a: Slot,
    },
    Compare {
        op: Predicate,
        kind: Kind,
        n: u32,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Convert {
        op: ConvertOp,
        from: Kind,
        to: Kind,
        rounding: Rounding,
        n: u32,
        dst: Slot,
        a: Slot,
    },
    /// Through the bytes, between layouts.
    Bitcast {
        from: u32,
        to: u32,
        dst: Slot,
        a: Slot,
    },
    Select {
        n: u32,
        per_lane: bool,
        cond: Slot,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Math {
        op: MathFn,
        kind: Kind,
        n: u32,
        dst: Slot,
        args: [Slot; 3],
    },
    Move {
        n: u32,
        dst: Slot,
        src: Slot,
    },
    /// `dst + i` from `from[i]`; `NONE` gives 0.
    Gather {
        dst: Slot,
        from: Box<[Slot]>,
    },
    ExtractDynamic {
        n: u32,
        dst: Slot,
        src: Slot,
        index: Slot,
    },
    InsertDynamic {
        n: u32,
        dst: Slot,
        src: Slot,
        element: Slot,
        index: Slot,
    },
    Alloca {
        dst: Slot,
        offset: u64,
    },
    LoadScalar {
        dst: Slot,
        ptr: Slot,
        kind: Kind,
    },
    StoreScalar {
        ptr: Slot,
        src: Slot,
        kind: Kind,
    },
    Load {
        dst: Slot,
        ptr: Slot,
        flat: u32,
    },
    Store {
        ptr: Slot,
        src: Slot,
        flat: u32,
    },
    CopyMemory {
        dst: Slot,
        src: Slot,
        size: Slot,
    },
    PtrOffset {
        n: u32,
        dst: Slot,
        ptr: Slot,
        index: Slot,
        stride: i64,
        offset: i64,
    },
    GenericToExplicit {
        dst: Slot,
        a: Slot,
        space: AddressSpace,
    },
    GenericIs {
        dst: Slot,
        a: Slot,
        space: AddressSpace,
    },
    Atomic {
        op: AtomicOp,
        kind: Kind,
        dst: Slot,
        ptr: Slot,
        value: Slot,
        comparator: Slot,
    },
    Fence,
    Barrier {
        work_group: bool,
    },
    WorkItem {
        builtin: Builtin,
        dim: u8,
        dst: Slot,
    },
    Group(Box<GroupCode>),
    Call {
        function: u32,
        args: Box<[(Slot, u32)]>,
        dst: Slot,
    },
    CallIndirect {
        callee: Slot,
        signature: u64,
        args: Box<[(Slot, u32)]>,
        dst: Slot,
    },
    Printf {
        format: u32,
        args: Box<[PrintfArg]>,
        dst: Slot,
    },
    Jump(Edge),
    Branch {
        cond: Slot,
        then: Edge,
        otherwise: Edge,
    },
    /// Cases sorted by value.
    Switch {
        value: Slot,
        default: u32,
        cases: Box<[(u64, u32)]>,
        edges: Box<[Edge]>,
    },
    Ret {
        src: Slot,
        n: u32,
    },
    Clock {
        dst: Slot,
    },
    /// The work-item ends: no valid program reaches this.
    End,
    /// The operands of [`Op::Trap`], in order.
    Trap(Box<[Slot]>),
}

/// A function ready to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) code: Vec<Code>,
    /// Word offset in the SPIR-V module, per instruction.
    pub(super) words: Vec<u32>,
    pub(super) name: String,
    /// Initial content of a frame: constants in place, everything else 0.
    pub(super) template: Vec<u64>,
    /// Template registers that hold addresses, which are known when a run starts.
    pub(super) late: Vec<(Slot, Late)>,
    /// Slot and scalar count of each parameter.
    pub(super) params: Vec<(Slot, u32)>,
    /// Layout of each parameter.
    pub(super) param_flats: Vec<u32>,
    /// Scalars of the result.
    pub(super) result: u32,
    /// The type, as calls through pointers compare it.
    pub(super) signature: u64,
    /// Bytes of private memory of a frame.
    pub(super) private: u64,
    /// Offsets of by-value parameters' copies in it.
    pub(super) by_value: Vec<Option<(u64, u64)>>,
    /// Whether the function has a body; imports have none.
    pub(super) defined: bool,
}

struct Builder<'m> {
    module: &'m Module,
    function: &'m Function,
    flats: &'m mut Flats,
    signatures: &'m Signatures,
    slots: Vec<Slot>,
    body: Body,
}

/// Translates `function`.
pub(super) fn build(
    module: &Module,
    function: &Function,
    flats: &mut Flats,
    signatures: &Signatures,
) -> Result<Body, BuildError> {
    let mut builder = Builder {
        module,
        function,
        flats,
        signatures,
        slots: vec![NONE; function.values.len()],
        body: Body {
            name: function.name.clone(),
            ..Body::default()
        },
    };
    for &param in &function.params {
        let slot = builder.slot(param)?;
        let ty = function.ty(param);
        let flat = builder.flats.of(&module.types, ty)?;
        let count = builder.flats.all[flat as usize].scalars.len() as u32;
        builder.body.params.push((slot, count));
        builder.body.param_flats.push(flat);
    }
    if let Some(result) = function.result {
        builder.body.result = scalar_count(&module.types, result).min(MAX_SLOTS) as u32;
    }
    let result = function
        .result
        .filter(|&ty| *module.types.get(ty) != Type::Void);
    builder.body.signature = builder.signature(result, &function.params);
    for size in &function.by_value {
        let place = size.map(|size| (builder.private(size, 128), size));
        builder.body.by_value.push(place);
    }
    if !function.blocks.is_empty() {
        builder.body.defined = true;
        builder.blocks()?;
    }
    Ok(builder.body)
}

impl Builder<'_> {
    fn signature(&self, result: Option<TypeId>, params: &[ValueId]) -> u64 {
        let types: Vec<TypeId> = params.iter().map(|&v| self.function.ty(v)).collect();
        self.signatures.of(result, &types)
    }

    fn private(&mut self, size: u64, align: u64) -> u64 {
        let align = align.clamp(1, 4096).next_power_of_two();
        let at = self.body.private.next_multiple_of(align);
        self.body.private = at.saturating_add(size).min(1 << 40);
        at
    }

    /// The slot of `value`, assigned at its first use.
    fn slot(&mut self, value: ValueId) -> Result<Slot, BuildError> {
        let known = self.slots[value.index()];
        if known != NONE {
            return Ok(known);
        }
        let v = self.function.values[value.index()];
        let at = self.body.template.len();
        let count = scalar_count(&self.module.types, v.ty);
        let total = count.saturating_add(at as u64);
        if total > MAX_SLOTS {
            return Err(too_large(total));
        }
        match v.def {
            ValueDef::Const(id) => {
                let mut late = Vec::new();
                constant(self.module, id, &mut self.body.template, &mut late);
                for (i, what) in late {
                    self.body.late.push((i as Slot, what));
                }
            }
            ValueDef::Global(global) => {
                self.body.late.push((at as Slot, Late::Global(global, 0)));
            }
            ValueDef::Param(_) | ValueDef::Inst(_) => {}
        }
        self.body.template.resize(at + count as usize, 0);
        self.slots[value.index()] = at as Slot;
        Ok(at as Slot)
    }

    /// Kind and number of scalars of a scalar or vector value.
    fn shape(&self, value: ValueId) -> (Kind, u32) {
        self.shape_of(self.function.ty(value))
    }

    fn shape_of(&self, ty: TypeId) -> (Kind, u32) {
        let types = &self.module.types;
        let kind = types.scalar_of(ty).and_then(|s| scalar_kind(types, s));
        (kind.unwrap_or(Kind::I64), types.lane_count(ty))
    }

    fn is_local(&self, ptr: ValueId) -> bool {
        let ty = self.module.types.get(self.function.ty(ptr));
        matches!(ty, Type::Ptr(AddressSpace::Local))
    }

    fn count(&self, value: ValueId) -> u32 {
        scalar_count(&self.module.types, self.function.ty(value)).min(MAX_SLOTS) as u32
    }

    fn emit(&mut self, code: Code, word: u32) {
        self.body.code.push(code);
        self.body.words.push(word);
    }

    fn blocks(&mut self) -> Result<(), BuildError> {
        let order = loop_contiguous_order(self.function);
        let has_barrier = order
            .iter()
            .flat_map(|block| &self.function.blocks[block.index()].insts)
            .any(|inst| matches!(self.function.insts[inst.index()].op, Op::Barrier(_)));
        let mut starts = vec![0u32; self.function.blocks.len()];
        for &block in &order {
            starts[block.index()] = self.body.code.len() as u32;
            let block_ref = &self.function.blocks[block.index()];
            let mut wrote_local = false;
            for &inst in &block_ref.insts {
                let inst = &self.function.insts[inst.index()];
                match &inst.op {
                    Op::Store { ptr, .. } => wrote_local |= self.is_local(*ptr),
                    Op::Load { ptr, .. } if has_barrier && wrote_local && self.is_local(*ptr) => {
                        wrote_local = false;
                        self.emit(Code::Barrier { work_group: false }, inst.word);
                    }
                    _ => {}
                }
                if let Some(code) = self.inst(inst)? {
                    self.emit(code, inst.word);
                }
            }
            let term = self.terminator(block, &block_ref.term)?;
            self.emit(term, 0);
        }
        // Replaces the block numbers of targets by positions.
        for code in &mut self.body.code {
            let place = |edge: &mut Edge| edge.target = starts[edge.target as usize];
            match code {
                Code::Jump(edge) => place(edge),
                Code::Branch {
                    then, otherwise, ..
                } => {
                    place(then);
                    place(otherwise);
                }
                Code::Switch { edges, .. } => edges.iter_mut().for_each(place),
                _ => {}
            }
        }
        Ok(())
    }

    fn edge(&mut self, from: BlockId, to: BlockId) -> Result<Edge, BuildError> {
        let mut moves = Vec::new();
        for &inst in &self.function.blocks[to.index()].insts {
            let inst = &self.function.insts[inst.index()];
            let (Op::Phi(incoming), Some(result)) = (&inst.op, inst.result) else {
                break;
            };
            if let Some(&(_, value)) = incoming.iter().find(|(block, _)| *block == from) {
                let (dst, src) = (self.slot(result)?, self.slot(value)?);
                moves.extend((0..self.count(result)).map(|i| (dst + i, src + i)));
            }
        }
        moves.retain(|(dst, src)| dst != src);
        Ok(Edge {
            target: to.0,
            moves: moves.into_boxed_slice(),
        })
    }

    fn terminator(&mut self, from: BlockId, term: &Terminator) -> Result<Code, BuildError> {
        Ok(match term {
            Terminator::Br(to) => Code::Jump(self.edge(from, *to)?),
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } => Code::Branch {
                cond: self.slot(*cond)?,
                then: self.edge(from, *then)?,
                otherwise: self.edge(from, *otherwise)?,
            },
            Terminator::Switch {
                value,
                default,
                cases,
            } => {
                let mut edges = vec![self.edge(from, *default)?];
                let mut by_target = HashMap::from([(*default, 0u32)]);
                let mut sorted = Vec::with_capacity(cases.len());
                for &(case, to) in cases {
                    let edge = match by_target.get(&to) {
                        Some(&edge) => edge,
                        None => {
                            edges.push(self.edge(from, to)?);
                            by_target.insert(to, edges.len() as u32 - 1);
                            edges.len() as u32 - 1
                        }
                    };
                    sorted.push((case, edge));
                }
                sorted.sort_unstable();
                Code::Switch {
                    value: self.slot(*value)?,
                    default: 0,
                    cases: sorted.into_boxed_slice(),
                    edges: edges.into_boxed_slice(),
                }
            }
            Terminator::Ret(Some(value)) => Code::Ret {
                src: self.slot(*value)?,
                n: self.count(*value),
            },
            Terminator::Ret(None) => Code::Ret { src: 0, n: 0 },
            Terminator::Unreachable => Code::End,
        })
    }

    /// First scalar and number of scalars of the part of `ty` at `path`.
    fn part(&self, mut ty: TypeId, path: &[u32]) -> (u32, u32) {
        let types = &self.module.types;
        let mut at = 0u64;
        for &index in path {
            let Some(element) = types.element(ty, u64::from(index)) else {
                return (0, 0);
            };
            at += match types.get(ty) {
                Type::Struct { fields, .. } => fields[..index as usize]
                    .iter()
                    .map(|&f| scalar_count(types, f))
                    .sum(),
                _ => u64::from(index) * scalar_count(types, element),
            };
            ty = element;
        }
        (at as u32, scalar_count(types, ty) as u32)
    }

    fn args(&mut self, args: &[ValueId]) -> Result<Box<[(Slot, u32)]>, BuildError> {
        args.iter()
            .map(|&arg| Ok((self.slot(arg)?, self.count(arg))))
            .collect()
    }

    #[expect(clippy::too_many_lines, reason = "one arm per operation")]
    fn inst(&mut self, inst: &Inst) -> Result<Option<Code>, BuildError> {
        let dst = match inst.result {
            Some(result) => self.slot(result)?,
            None => NONE,
        };
        let result_shape = inst.result.map_or((Kind::I64, 0), |r| self.shape(r));
        let result_type = inst.result.map(|r| self.function.ty(r));
        Ok(Some(match &inst.op {
            Op::Phi(_) | Op::Assume(_) => return Ok(None),
            Op::Binary(op, a, b, _) => {
                let (kind, n) = self.shape(*a);
                let (a, b) = (self.slot(*a)?, self.slot(*b)?);
                Code::Binary {
                    op: *op,
                    kind,
                    n,
                    dst,
                    a,
                    b,
                }
            }
            Op::Unary(op, a, _) => {
                let (kind, n) = self.shape(*a);
                let a = self.slot(*a)?;
                match op {
                    UnaryOp::AnyLane | UnaryOp::AllLanes => Code::Lanes {
                        all: *op == UnaryOp::AllLanes,
                        n,
                        dst,
                        a,
                    },
                    _ => Code::Unary {
                        op: *op,
                        kind,
                        n,
                        dst,
                        a,
                    },
                }
            }
            Op::Compare(op, a, b) => {
                let (kind, n) = self.shape(*a);
                let (a, b) = (self.slot(*a)?, self.slot(*b)?);
                Code::Compare {
                    op: *op,
                    kind,
                    n,
                    dst,
                    a,
                    b,
                }
            }
            Op::Convert(op, a, rounding) => {
                let (from, from_n) = self.shape(*a);
                let (to, n) = result_shape;
                let source_type = self.function.ty(*a);
                let a = self.slot(*a)?;
                match (op, result_type) {
                    (ConvertOp::Bitcast, Some(ty)) if from_n != n || from.bits() != to.bits() => {
                        Code::Bitcast {
                            from: self.flats.of(&self.module.types, source_type)?,
                            to: self.flats.of(&self.module.types, ty)?,
                            dst,
                            a,
                        }
                    }
                    _ => Code::Convert {
                        op: *op,
                        from,
                        to,
                        rounding: *rounding,
                        n,
                        dst,
                        a,
                    },
                }
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => Code::Select {
                n: self.count(*then),
                per_lane: self.shape(*cond).1 > 1,
                cond: self.slot(*cond)?,
                dst,
                a: self.slot(*then)?,
                b: self.slot(*otherwise)?,
            },
            Op::Math(op, args, _) => {
                let kind = match op {
                    MathFn::Nan => result_shape.0,
                    _ => args.first().map_or(result_shape.0, |&a| self.shape(a).0),
                };
                let mut slots = [NONE; 3];
                for (slot, &arg) in slots.iter_mut().zip(args) {
                    *slot = self.slot(arg)?;
                }
                Code::Math {
                    op: *op,
                    kind,
                    n: result_shape.1,
                    dst,
                    args: slots,
                }
            }
            Op::Construct(parts) => {
                let mut from = Vec::new();
                for &part in parts {
                    let slot = self.slot(part)?;
                    from.extend((0..self.count(part)).map(|i| slot + i));
                }
                Code::Gather {
                    dst,
                    from: from.into_boxed_slice(),
                }
            }
            Op::Extract(a, path) => {
                let (at, n) = self.part(self.function.ty(*a), path);
                Code::Move {
                    n,
                    dst,
                    src: self.slot(*a)? + at,
                }
            }
            Op::Insert(a, part, path) => {
                let (at, n) = self.part(self.function.ty(*a), path);
                let total = self.count(*a);
                let (a, part) = (self.slot(*a)?, self.slot(*part)?);
                let pick = |i| {
                    if (at..at + n).contains(&i) {
                        part + i - at
                    } else {
                        a + i
                    }
                };
                Code::Gather {
                    dst,
                    from: (0..total).map(pick).collect(),
                }
            }
            Op::ExtractDynamic(a, index) => Code::ExtractDynamic {
                n: self.count(*a),
                dst,
                src: self.slot(*a)?,
                index: self.slot(*index)?,
            },
            Op::InsertDynamic(a, element, index) => Code::InsertDynamic {
                n: self.count(*a),
                dst,
                src: self.slot(*a)?,
                element: self.slot(*element)?,
                index: self.slot(*index)?,
            },
            Op::Shuffle(a, b, lanes) => {
                let n = self.count(*a);
                let total = n + self.count(*b);
                let (a, b) = (self.slot(*a)?, self.slot(*b)?);
                let pick = |&lane: &u32| match lane {
                    l if l < n => a + l,
                    l if l < total => b + l - n,
                    _ => NONE,
                };
                Code::Gather {
                    dst,
                    from: lanes.iter().map(pick).collect(),
                }
            }
            Op::Alloca { size, align } => Code::Alloca {
                dst,
                offset: self.private(*size, *align),
            },
            Op::Load { ptr, .. } => {
                let ptr = self.slot(*ptr)?;
                match result_type {
                    Some(ty) if scalar_kind(&self.module.types, ty).is_none() => Code::Load {
                        dst,
                        ptr,
                        flat: self.flats.of(&self.module.types, ty)?,
                    },
                    _ => Code::LoadScalar {
                        dst,
                        ptr,
                        kind: result_shape.0,
                    },
                }
            }
            Op::Store { ptr, value, .. } => {
                let ptr = self.slot(*ptr)?;
                let ty = self.function.ty(*value);
                let src = self.slot(*value)?;
                match scalar_kind(&self.module.types, ty) {
                    Some(kind) => Code::StoreScalar { ptr, src, kind },
                    None => Code::Store {
                        ptr,
                        src,
                        flat: self.flats.of(&self.module.types, ty)?,
                    },
                }
            }
            Op::CopyMemory { dst, src, size, .. } => Code::CopyMemory {
                dst: self.slot(*dst)?,
                src: self.slot(*src)?,
                size: self.slot(*size)?,
            },
            Op::PtrOffset { ptr, index, offset } => {
                let n = self.count(*ptr);
                let (index, stride) = match index {
                    Some((index, stride)) => (self.slot(*index)?, *stride),
                    None => (NONE, 0),
                };
                Code::PtrOffset {
                    n,
                    dst,
                    ptr: self.slot(*ptr)?,
                    index,
                    stride,
                    offset: *offset,
                }
            }
            Op::GenericToExplicit(a, space) => Code::GenericToExplicit {
                dst,
                a: self.slot(*a)?,
                space: *space,
            },
            Op::GenericIs(a, space) => Code::GenericIs {
                dst,
                a: self.slot(*a)?,
                space: *space,
            },
            Op::Atomic {
                op,
                ptr,
                value,
                comparator,
                ..
            } => {
                let kind = match (op, value) {
                    (AtomicOp::FlagTestAndSet | AtomicOp::FlagClear, _) => Kind::I32,
                    (_, Some(value)) => self.shape(*value).0,
                    (_, None) => result_shape.0,
                };
                let value = value.map_or(Ok(NONE), |v| self.slot(v))?;
                let comparator = comparator.map_or(Ok(NONE), |v| self.slot(v))?;
                Code::Atomic {
                    op: *op,
                    kind,
                    dst,
                    ptr: self.slot(*ptr)?,
                    value,
                    comparator,
                }
            }
            Op::Fence(..) => Code::Fence,
            Op::Barrier(scope) => {
                let work_group = !matches!(scope, Scope::Subgroup | Scope::Invocation);
                Code::Barrier { work_group }
            }
            Op::WorkItem(builtin, dim) => Code::WorkItem {
                builtin: *builtin,
                dim: *dim,
                dst,
            },
            Op::Group(op, scope, args) => {
                let mut slots = [NONE; 3];
                for (slot, &arg) in slots.iter_mut().zip(args) {
                    *slot = self.slot(arg)?;
                }
                let (kind, lanes) = match (op, args.first()) {
                    (GroupOp::BlockRead, _) | (_, None) => result_shape,
                    (GroupOp::BlockWrite, _) => {
                        args.get(1).map_or(result_shape, |&value| self.shape(value))
                    }
                    (_, Some(&value)) => self.shape(value),
                };
                Code::Group(Box::new(GroupCode {
                    op: *op,
                    scope: *scope,
                    args: slots,
                    kind,
                    lanes,
                    dst,
                }))
            }
            Op::Call(callee, args) => Code::Call {
                function: callee.0,
                args: self.args(args)?,
                dst,
            },
            Op::CallIndirect(callee, args) => Code::CallIndirect {
                callee: self.slot(*callee)?,
                signature: self.signature(result_type, args),
                args: self.args(args)?,
                dst,
            },
            Op::Printf(format, args) => {
                let text = self.module.printf_formats.get(*format as usize);
                let strings = crate::printf::string_args(text.map_or(&[], Vec::as_slice));
                let mut list = Vec::new();
                for (i, &arg) in args.iter().enumerate() {
                    let (kind, lanes) = self.shape(arg);
                    let pointer =
                        matches!(self.module.types.get(self.function.ty(arg)), Type::Ptr(_));
                    list.push(PrintfArg {
                        slot: self.slot(arg)?,
                        kind,
                        lanes,
                        pointer,
                        string: pointer && strings.contains(&i),
                    });
                }
                Code::Printf {
                    format: *format,
                    args: list.into_boxed_slice(),
                    dst,
                }
            }
            Op::Clock => Code::Clock { dst },
            Op::Check(..) => {
                let text = "checks of kernels; the interpreter runs only kernels without";
                return Err(BuildError::unsupported(0, text.to_owned()));
            }
            Op::Trap(args) => Code::Trap(
                args.iter()
                    .map(|&arg| self.slot(arg))
                    .collect::<Result<_, _>>()?,
            ),
            Op::Copy(a) => Code::Move {
                n: self.count(*a),
                dst,
                src: self.slot(*a)?,
            },
        }))
    }
}

/// Metadata of `kernel`, for the host.
pub(super) fn kernel_info(
    module: &Module,
    kernel: &Kernel,
    facts: &KernelFacts,
    sub_group_size: u32,
) -> KernelInfo {
    let mut info = KernelInfo {
        any_order: !facts.observes_groups,
        name: kernel.name.clone(),
        symbol: kernel.name.clone(),
        local_size: facts.local_size,
        local_per_item: facts.local_per_item_size,
        width: sub_group_size,
        sub_group_size,
        required_sub_group_size: kernel.required_sub_group_size,
        required_group_size: kernel.required_group_size.unwrap_or_default(),
        private_size: facts.private_size,
        barriers: facts.uses_barrier,
        flush_denorms: kernel.flush_denorms,
        attributes: kernel.attributes.clone(),
        ..KernelInfo::default()
    };
    info.lay_out_args(&kernel.arg_infos);
    info.unchecked = unchecked_pointers(module, kernel, &info.args);
    info
}
