//! The builder: the function that is being lowered, and helpers that append instructions.

use super::fault::{Res, invalid};
use super::float_bits::float_bits;
use super::limits::MAX_VALUE;
use super::source::Source;
use super::table::{Callee, Entity, Kind, Table};
use crate::{
    AddressSpace, BinaryOp, BlockId, Builtin, ConstId, Constant, ConvertOp, Flags, Function,
    FunctionId, GlobalId, InstId, MathFn, Module, Op, Predicate, Rounding, Type, TypeId, Types,
    UnaryOp, ValueDef, ValueId,
};
use std::collections::{HashMap, HashSet};

/// The signature of a function, for its callers.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Index of its module.
    pub(super) source: usize,
    pub(super) result: Option<TypeId>,
    pub(super) params: Vec<TypeId>,
    /// By-value parameters: bytes and alignment.
    pub(super) by_value: Vec<Option<(u64, u64)>>,
    /// (callee, word) of every call in it.
    pub(super) calls: Vec<(FunctionId, u32)>,
}

/// Helper functions of the compiler in this module, by name.
pub(super) type Helpers = HashMap<String, FunctionId>;

/// Lowers one function from SPIR-V to the IR.
pub(super) struct Lower<'a, 'w> {
    pub(super) module: &'a mut Module,
    pub(super) source: &'a Source<'w>,
    pub(super) table: &'a mut Table,
    /// The callee of each called id.
    pub(super) callees: &'a HashMap<u32, Callee>,
    pub(super) signatures: &'a mut Vec<Signature>,
    pub(super) helpers: &'a mut Helpers,
    pub(super) f: Function,
    /// The block to which instructions are appended.
    pub(super) block: BlockId,
    /// The current instruction.
    pub(super) word: u32,
    /// Flags that the build options add to every float instruction.
    pub(super) fast: u32,
    pub(super) calls: Vec<(FunctionId, u32)>,
    pub(super) constants: HashMap<ConstId, ValueId>,
    pub(super) globals: HashMap<GlobalId, ValueId>,
    pub(super) phis: Vec<(InstId, usize, &'w [u32])>,
    pub(super) labels: HashMap<u32, BlockId>,
    /// Reachable blocks.
    pub(super) reached: HashSet<BlockId>,
    /// Bytes of private variables.
    pub(super) private: u64,
    /// Whether the function frees memory (OpRestoreMemoryINTEL).
    pub(super) restores: bool,
    /// Constituents of the current composite from its continuation instructions.
    pub(super) further: Vec<u32>,
    /// Whether the previous instruction was a composite or its continuation.
    pub(super) goes_on: bool,
}

impl Lower<'_, '_> {
    // Instructions.

    /// Appends an instruction with a result.
    pub(super) fn emit(&mut self, op: Op, ty: TypeId) -> ValueId {
        let (inst, _) = self.f.add_inst(op, None, self.word);
        let value = self.f.add_value(ty, ValueDef::Inst(inst));
        if let Some(slot) = self.f.insts.get_mut(inst.index()) {
            slot.result = Some(value);
        }
        self.append(inst);
        value
    }
    /// Appends an instruction without a result.
    pub(super) fn emit_void(&mut self, op: Op) {
        let (inst, _) = self.f.add_inst(op, None, self.word);
        self.append(inst);
    }
    fn append(&mut self, inst: InstId) {
        if let Some(block) = self.f.blocks.get_mut(self.block.index()) {
            block.insts.push(inst);
        }
    }
    /// Private memory.
    pub(super) fn alloca(&mut self, size: u64, align: u64) -> ValueId {
        self.private = self.private.saturating_add(size);
        let ty = self.module.types.ptr(AddressSpace::Private);
        let size = size.max(1);
        let (inst, _) = self.f.add_inst(Op::Alloca { size, align }, None, self.word);
        let value = self.f.add_value(ty, ValueDef::Inst(inst));
        if let Some(slot) = self.f.insts.get_mut(inst.index()) {
            slot.result = Some(value);
        }
        // The additional first block has no phis and dominates everything.
        if let Some(block) = self.f.blocks.first_mut() {
            block.insts.push(inst);
        }
        value
    }
    pub(super) fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.f.ty(a);
        self.emit(Op::Binary(op, a, b, Flags::default()), ty)
    }
    /// Float arithmetic with the flags of the current instruction.
    pub(super) fn float(&mut self, op: BinaryOp, a: ValueId, b: ValueId, fast: u32) -> ValueId {
        let ty = self.f.ty(a);
        let flags = Flags {
            fast,
            ..Flags::default()
        };
        self.emit(Op::Binary(op, a, b, flags), ty)
    }
    pub(super) fn unary(&mut self, op: UnaryOp, a: ValueId) -> ValueId {
        let ty = match op {
            UnaryOp::IsNan
            | UnaryOp::IsInf
            | UnaryOp::IsFinite
            | UnaryOp::IsNormal
            | UnaryOp::SignBit => self.like(a, Types::bool),
            UnaryOp::AnyLane | UnaryOp::AllLanes => self.module.types.bool(),
            _ => self.f.ty(a),
        };
        self.emit(Op::Unary(op, a, Flags::default()), ty)
    }
    pub(super) fn math(&mut self, function: MathFn, args: Vec<ValueId>, fast: u32) -> ValueId {
        let ty = args.first().map(|&a| self.f.ty(a));
        let ty = ty.unwrap_or_else(|| self.module.types.float(32));
        let flags = Flags {
            fast,
            ..Flags::default()
        };
        self.emit(Op::Math(function, args, flags), ty)
    }
    pub(super) fn compare(&mut self, predicate: Predicate, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.like(a, Types::bool);
        self.emit(Op::Compare(predicate, a, b), ty)
    }
    pub(super) fn select(&mut self, cond: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        let ty = self.f.ty(then);
        self.emit(
            Op::Select {
                cond,
                then,
                otherwise,
            },
            ty,
        )
    }
    pub(super) fn convert(&mut self, op: ConvertOp, value: ValueId, to: TypeId) -> ValueId {
        self.emit(Op::Convert(op, value, Rounding::Default), to)
    }
    pub(super) fn extract(&mut self, value: ValueId, index: u32) -> Res<ValueId> {
        let ty = self.f.ty(value);
        let Some(element) = self.module.types.element(ty, u64::from(index)) else {
            return invalid(format!("component {index} of a value that has fewer"));
        };
        Ok(self.emit(Op::Extract(value, vec![index]), element))
    }
    /// The components of a vector; of a scalar itself.
    pub(super) fn lanes(&mut self, value: ValueId) -> Vec<ValueId> {
        let ty = self.f.ty(value);
        let Type::Vector(element, n) = *self.module.types.get(ty) else {
            return vec![value];
        };
        (0..n)
            .map(|i| self.emit(Op::Extract(value, vec![i]), element))
            .collect()
    }
    /// A vector of `lanes`, or the scalar if there is one.
    pub(super) fn join(&mut self, lanes: Vec<ValueId>) -> ValueId {
        match lanes.as_slice() {
            [only] => *only,
            _ => {
                let scalar = lanes.first().map(|&lane| self.f.ty(lane));
                let scalar = scalar.unwrap_or_else(|| self.module.types.bool());
                let ty = Type::Vector(scalar, lanes.len() as u32);
                let ty = self.module.types.intern(ty);
                self.emit(Op::Construct(lanes), ty)
            }
        }
    }
    /// A scalar splat to the lanes of `shape`.
    pub(super) fn splat_like(&mut self, scalar: ValueId, shape: ValueId) -> ValueId {
        let ty = self.f.ty(shape);
        match *self.module.types.get(ty) {
            Type::Vector(_, n) => self.join(vec![scalar; n as usize]),
            _ => scalar,
        }
    }
    /// `ptr` plus a number of bytes.
    pub(super) fn offset(&mut self, ptr: ValueId, offset: i64) -> ValueId {
        if offset == 0 {
            return ptr;
        }
        let ty = self.f.ty(ptr);
        let index = None;
        self.emit(Op::PtrOffset { ptr, index, offset }, ty)
    }
    /// `ptr` plus `index` (64 bits, signed) times `stride`.
    pub(super) fn offset_by(&mut self, ptr: ValueId, index: ValueId, stride: i64) -> ValueId {
        let ty = self.f.ty(ptr);
        let index = Some((index, stride));
        let offset = 0;
        self.emit(Op::PtrOffset { ptr, index, offset }, ty)
    }
    pub(super) fn load(&mut self, ptr: ValueId, ty: TypeId, align: u64) -> ValueId {
        let volatile = false;
        self.emit(
            Op::Load {
                ptr,
                align,
                volatile,
            },
            ty,
        )
    }
    pub(super) fn store(&mut self, ptr: ValueId, value: ValueId, align: u64) {
        self.emit_void(Op::Store {
            ptr,
            value,
            align,
            volatile: false,
        });
    }
    /// A builtin of 32 or 64 bits, as `Int(64)`.
    pub(super) fn work_item(&mut self, builtin: Builtin, dimension: u8, bits: u8) -> ValueId {
        let ty = self.module.types.int(bits);
        let value = self.emit(Op::WorkItem(builtin, dimension), ty);
        self.resize(value, bits, 64)
    }

    // Types.

    /// `scalar`, or the vector of it with as many lanes as `value`.
    pub(super) fn like(
        &mut self,
        value: ValueId,
        scalar: impl FnOnce(&mut Types) -> TypeId,
    ) -> TypeId {
        let shape = self.f.ty(value);
        self.shaped(shape, scalar)
    }
    /// `scalar`, or the vector of it with as many lanes as type `shape`.
    pub(super) fn shaped(
        &mut self,
        shape: TypeId,
        scalar: impl FnOnce(&mut Types) -> TypeId,
    ) -> TypeId {
        let scalar = scalar(&mut self.module.types);
        match *self.module.types.get(shape) {
            Type::Vector(_, n) => self.module.types.intern(Type::Vector(scalar, n)),
            _ => scalar,
        }
    }
    /// The scalar type of `value`.
    pub(super) fn scalar(&self, value: ValueId) -> Type {
        self.scalar_of(self.f.ty(value))
    }
    /// The scalar type of `ty`; `Void` if it has none.
    pub(super) fn scalar_of(&self, ty: TypeId) -> Type {
        match self.module.types.scalar_of(ty) {
            Some(scalar) => self.module.types.get(scalar).clone(),
            None => Type::Void,
        }
    }
    /// Width of the integers or floats in `value`.
    pub(super) fn bits(&self, value: ValueId) -> Res<u8> {
        match self.scalar(value) {
            Type::Int(bits) | Type::Float(bits) => Ok(bits),
            _ => invalid("an operand is no integer or float"),
        }
    }
    /// Width of the integers in `value`.
    pub(super) fn int_bits(&self, value: ValueId) -> Res<u8> {
        match self.scalar(value) {
            Type::Int(bits) => Ok(bits),
            _ => invalid("an operand is no integer"),
        }
    }
    /// Width of the floats in `value`.
    pub(super) fn float_bits(&self, value: ValueId) -> Res<u8> {
        match self.scalar(value) {
            Type::Float(bits) => Ok(bits),
            _ => invalid("an operand is no float"),
        }
    }
    pub(super) fn lane_count(&self, value: ValueId) -> u32 {
        self.module.types.lane_count(self.f.ty(value))
    }

    // Constants.

    /// The value of a constant.
    pub(super) fn constant(&mut self, constant: ConstId) -> ValueId {
        if let Some(&value) = self.constants.get(&constant) {
            return value;
        }
        let ty = self.module.constants.ty(constant);
        let value = self.f.add_value(ty, ValueDef::Const(constant));
        self.constants.insert(constant, value);
        value
    }
    /// An integer scalar.
    pub(super) fn int(&mut self, bits: u8, value: u64) -> ValueId {
        let ty = self.module.types.int(bits);
        let value = super::table::low_bits(value, bits);
        let constant = self.module.constants.intern(ty, Constant::Int(value));
        self.constant(constant)
    }
    /// An integer splat of type `ty`.
    pub(super) fn int_of(&mut self, ty: TypeId, value: u64) -> ValueId {
        let bits = match self.scalar_of(ty) {
            Type::Int(bits) => bits,
            _ => 32,
        };
        let scalar = self.module.types.int(bits);
        let value = super::table::low_bits(value, bits);
        let constant = self.module.constants.intern(scalar, Constant::Int(value));
        self.splat(ty, constant)
    }
    /// A float splat of type `ty`.
    pub(super) fn float_of(&mut self, ty: TypeId, value: f64) -> ValueId {
        let bits = match self.scalar_of(ty) {
            Type::Float(bits) => bits,
            _ => 32,
        };
        let scalar = self.module.types.float(bits);
        let value = Constant::Float(float_bits(bits, value));
        let constant = self.module.constants.intern(scalar, value);
        self.splat(ty, constant)
    }
    fn splat(&mut self, ty: TypeId, constant: ConstId) -> ValueId {
        let constant = match *self.module.types.get(ty) {
            Type::Vector(_, n) => {
                let zero = matches!(
                    self.module.constants.get(constant),
                    Constant::Int(0) | Constant::Float(0)
                );
                let value = if zero {
                    Constant::Null
                } else {
                    Constant::Composite(vec![constant; n as usize])
                };
                self.module.constants.intern(ty, value)
            }
            _ => constant,
        };
        self.constant(constant)
    }
    /// An undefined value of type `ty`.
    pub(super) fn undef(&mut self, ty: TypeId) -> ValueId {
        let constant = self.module.constants.intern(ty, Constant::Undef);
        self.constant(constant)
    }
    /// The bits of an integer constant.
    pub(super) fn known(&self, value: ValueId) -> Option<u64> {
        match self.f.values.get(value.index())?.def {
            ValueDef::Const(constant) => super::table::integer(self.module, constant),
            _ => None,
        }
    }
    /// The address of a variable.
    pub(super) fn global(&mut self, global: GlobalId) -> ValueId {
        if let Some(&value) = self.globals.get(&global) {
            return value;
        }
        let space = self.module.globals.get(global.index()).map(|g| g.space);
        let ty = self.module.types.ptr(space.unwrap_or(AddressSpace::Global));
        let value = self.f.add_value(ty, ValueDef::Global(global));
        self.globals.insert(global, value);
        value
    }

    // Ids.

    /// The value of `id`.
    pub(super) fn value(&mut self, id: u32) -> Res<ValueId> {
        match self.table.get(id)? {
            Entity::Value(value) => Ok(value),
            Entity::Const(constant) => Ok(self.constant(constant)),
            Entity::Address {
                global,
                offset,
                space,
            } => {
                let value = self.global(global);
                let value = self.offset(value, offset);
                let ty = self.module.types.ptr(space);
                Ok(self.cast_pointer(value, ty))
            }
            Entity::AddressNumber {
                global,
                offset,
                bits,
            } => {
                let value = self.global(global);
                let value = self.offset(value, offset);
                let int = self.module.types.int(64);
                let number = self.convert(ConvertOp::PtrToInt, value, int);
                Ok(self.resize(number, 64, bits))
            }
            Entity::BuiltinPart(place) => {
                let ptr = self.copy_of_place(place);
                let ty = self.table.type_of(id)?.ir;
                Ok(self.cast_pointer(ptr, ty))
            }
            Entity::Function => invalid(format!("function %{id} used as a value")),
            Entity::Type(_) => invalid(format!("type %{id} used as a value")),
            Entity::Set(_) | Entity::Named | Entity::None => {
                invalid(format!("id %{id} has no value"))
            }
        }
    }
    /// A pointer in another address space.
    pub(super) fn cast_pointer(&mut self, value: ValueId, to: TypeId) -> ValueId {
        if self.f.ty(value) == to {
            return value;
        }
        self.convert(ConvertOp::AddressSpace, value, to)
    }
    /// The values of `ids`.
    pub(super) fn all(&mut self, ids: &[u32]) -> Res<Vec<ValueId>> {
        ids.iter().map(|&id| self.value(id)).collect()
    }
    /// Defines the result id of the current instruction.
    pub(super) fn result(&mut self, ty: u32, id: u32, value: ValueId) -> Res<()> {
        let want = self.table.ty(ty)?.ir;
        if self.f.ty(value) != want {
            return invalid(format!(
                "the operands give a value of another type than the result type %{ty}"
            ));
        }
        self.table.define_local(id, ty, Entity::Value(value))
    }
    /// The IR type of a value's type id.
    pub(super) fn value_type(&self, id: u32) -> Res<TypeId> {
        let ir = self.table.sized(id)?;
        let size = self.module.types.size_of(ir);
        if size > MAX_VALUE {
            return super::fault::unsupported(format!(
                "a value of {size} bytes; the largest outside memory has {}",
                MAX_VALUE
            ));
        }
        Ok(ir)
    }
    /// Whether type `id` is a pointer type.
    pub(super) fn is_pointer(&self, id: u32) -> Res<bool> {
        Ok(matches!(self.table.ty(id)?.kind, Kind::Pointer(..)))
    }
    /// An integer of any width as `Int(64)`, sign-extended.
    pub(super) fn index(&mut self, value: ValueId) -> Res<ValueId> {
        if self.lane_count(value) != 1 {
            return invalid("an index is a scalar");
        }
        match self.int_bits(value)? {
            64 => Ok(value),
            bits => {
                if let Some(known) = self.known(value) {
                    return Ok(self.int(64, crate::types::sign_extend(known, bits) as u64));
                }
                let ty = self.module.types.int(64);
                Ok(self.convert(ConvertOp::SExt, value, ty))
            }
        }
    }
}
