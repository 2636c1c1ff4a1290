//! Helper functions of the compiler, for instructions and imports that need loops or branches: copies, fills, and barriers whose
//! scope is not constant.

use super::lower::{Lower, Signature};
use crate::{
    AddressSpace, BinaryOp, BlockId, Builtin, Constant, Flags, Function, FunctionId, Module, Op,
    Predicate, Scope, Terminator, TypeId, ValueDef, ValueId,
};

/// SPIR-V's number of the scope.
const SUB_GROUP: u64 = 3;

/// Builds one helper function.
struct Writer<'m> {
    module: &'m mut Module,
    f: Function,
    at: BlockId,
}

impl Writer<'_> {
    fn new<'m>(module: &'m mut Module, name: &str, params: &[TypeId]) -> Writer<'m> {
        let result = module.types.void();
        let mut f = Function {
            name: name.to_owned(),
            result: Some(result),
            by_value: vec![None; params.len()],
            ..Function::default()
        };
        for (i, &ty) in params.iter().enumerate() {
            let value = f.add_value(ty, ValueDef::Param(i as u32));
            f.params.push(value);
        }
        let at = f.add_block();
        Writer { module, f, at }
    }
    fn emit(&mut self, op: Op, ty: TypeId) -> ValueId {
        let (inst, _) = self.f.add_inst(op, None, 0);
        let value = self.f.add_value(ty, ValueDef::Inst(inst));
        if let Some(slot) = self.f.insts.get_mut(inst.index()) {
            slot.result = Some(value);
        }
        if let Some(block) = self.f.blocks.get_mut(self.at.index()) {
            block.insts.push(inst);
        }
        value
    }
    fn binary(&mut self, op: BinaryOp, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.f.ty(a);
        self.emit(Op::Binary(op, a, b, Flags::default()), ty)
    }
    fn int(&mut self, value: u64) -> ValueId {
        let ty = self.module.types.int(64);
        let constant = self.module.constants.intern(ty, Constant::Int(value));
        self.f.add_value(ty, ValueDef::Const(constant))
    }
    fn end(&mut self, term: Terminator) {
        if let Some(block) = self.f.blocks.get_mut(self.at.index()) {
            block.term = term;
        }
    }
    /// `for (i = from; i < to; i += step) body(i)`.
    fn repeat(
        &mut self,
        from: ValueId,
        to: ValueId,
        step: ValueId,
        body: impl FnOnce(&mut Self, ValueId),
    ) {
        let (head, inside, after) = (self.f.add_block(), self.f.add_block(), self.f.add_block());
        let before = self.at;
        self.end(Terminator::Br(head));
        self.at = head;
        let int = self.module.types.int(64);
        let bool = self.module.types.bool();
        let i = self.emit(Op::Phi(vec![(before, from)]), int);
        let more = self.emit(Op::Compare(Predicate::ULt, i, to), bool);
        self.end(Terminator::CondBr {
            cond: more,
            then: inside,
            otherwise: after,
        });
        self.at = inside;
        body(self, i);
        let next = self.binary(BinaryOp::IAdd, i, step);
        self.end(Terminator::Br(head));
        let last = self.at;
        if let ValueDef::Inst(phi) = self.f.values[i.index()].def {
            self.f.insts[phi.index()].op = Op::Phi(vec![(before, from), (last, next)]);
        }
        self.at = after;
    }
    fn byte_at(&mut self, ptr: ValueId, index: ValueId) -> ValueId {
        let ty = self.f.ty(ptr);
        let op = Op::PtrOffset {
            ptr,
            index: Some((index, 1)),
            offset: 0,
        };
        self.emit(op, ty)
    }
    fn load(&mut self, ptr: ValueId, ty: TypeId) -> ValueId {
        let op = Op::Load {
            ptr,
            align: 1,
            volatile: false,
        };
        self.emit(op, ty)
    }
    fn store(&mut self, ptr: ValueId, value: ValueId) {
        let op = Op::Store {
            ptr,
            value,
            align: 1,
            volatile: false,
        };
        let (inst, _) = self.f.add_inst(op, None, 0);
        if let Some(block) = self.f.blocks.get_mut(self.at.index()) {
            block.insts.push(inst);
        }
    }
    fn copy_byte(&mut self, dst: ValueId, src: ValueId, index: ValueId) {
        let byte = self.module.types.int(8);
        let from = self.byte_at(src, index);
        let value = self.load(from, byte);
        let to = self.byte_at(dst, index);
        self.store(to, value);
    }
}

impl Lower<'_, '_> {
    /// The helper function `name`; `write` builds it at its first use.
    fn helper(
        &mut self,
        name: String,
        params: &[TypeId],
        write: impl FnOnce(&mut Writer<'_>, &[ValueId]),
    ) -> FunctionId {
        if let Some(&id) = self.helpers.get(&name) {
            return id;
        }
        let mut writer = Writer::new(self.module, &name, params);
        let values = writer.f.params.clone();
        write(&mut writer, &values);
        writer.end(Terminator::Ret(None));
        let f = writer.f;
        let id = FunctionId(self.module.functions.len() as u32);
        self.signatures.push(Signature {
            result: f.result,
            params: params.to_vec(),
            by_value: vec![None; params.len()],
            ..Signature::default()
        });
        self.module.functions.push(f);
        self.helpers.insert(name, id);
        id
    }

    fn generic_and_int(&mut self) -> (TypeId, TypeId) {
        let ptr = self.module.types.ptr(AddressSpace::Generic);
        (ptr, self.module.types.int(64))
    }

    /// (to, from, count, bytes from one element to the next at `to`, the same at `from`).
    pub(super) fn async_copy_helper(&mut self, element: u64) -> FunctionId {
        let (ptr, int) = self.generic_and_int();
        let name = format!("solum.async_copy.{element}");
        self.helper(name, &[ptr, ptr, int, int, int], |w, params| {
            let &[to, from, count, to_step, from_step] = params else {
                return;
            };
            let first = w.emit(Op::WorkItem(Builtin::LocalInvocationIndex, 0), int);
            let mut items = w.emit(Op::WorkItem(Builtin::WorkgroupSize, 0), int);
            for dimension in 1..3 {
                let size = w.emit(Op::WorkItem(Builtin::WorkgroupSize, dimension), int);
                items = w.binary(BinaryOp::IMul, items, size);
            }
            let bytes = w.int(element);
            w.repeat(first, count, items, |w, i| {
                let to_offset = w.binary(BinaryOp::IMul, i, to_step);
                let from_offset = w.binary(BinaryOp::IMul, i, from_step);
                let dst = w.byte_at(to, to_offset);
                let src = w.byte_at(from, from_offset);
                let op = Op::CopyMemory {
                    dst,
                    src,
                    size: bytes,
                    align: 1,
                };
                let (inst, _) = w.f.add_inst(op, None, 0);
                if let Some(block) = w.f.blocks.get_mut(w.at.index()) {
                    block.insts.push(inst);
                }
            });
        })
    }

    /// (to, from, bytes); the ranges may overlap.
    /// A barrier of the scope that its argument, of type `ty`, names.
    pub(super) fn barrier_helper(&mut self, ty: TypeId) -> FunctionId {
        let name = format!("solum.barrier.{}", ty.0);
        self.helper(name, &[ty], |w, params| {
            let &[scope] = params else { return };
            let sub_group = w.module.constants.intern(ty, Constant::Int(SUB_GROUP));
            let sub_group = w.f.add_value(ty, ValueDef::Const(sub_group));
            let bool = w.module.types.bool();
            let is_sub_group = w.emit(Op::Compare(Predicate::IEq, scope, sub_group), bool);
            let (then, otherwise, end) = (w.f.add_block(), w.f.add_block(), w.f.add_block());
            w.end(Terminator::CondBr {
                cond: is_sub_group,
                then,
                otherwise,
            });
            for (block, scope) in [(then, Scope::Subgroup), (otherwise, Scope::Workgroup)] {
                w.at = block;
                let (inst, _) = w.f.add_inst(Op::Barrier(scope), None, 0);
                if let Some(block) = w.f.blocks.get_mut(block.index()) {
                    block.insts.push(inst);
                }
                w.end(Terminator::Br(end));
            }
            w.at = end;
        })
    }

    pub(super) fn memmove_helper(&mut self) -> FunctionId {
        let (ptr, int) = self.generic_and_int();
        self.helper("solum.memmove".into(), &[ptr, ptr, int], |w, params| {
            let &[to, from, bytes] = params else { return };
            let bool = w.module.types.bool();
            let (zero, one) = (w.int(0), w.int(1));
            let a = w.emit(
                Op::Convert(crate::ConvertOp::PtrToInt, to, crate::Rounding::Default),
                int,
            );
            let b = w.emit(
                Op::Convert(crate::ConvertOp::PtrToInt, from, crate::Rounding::Default),
                int,
            );
            // Copies upwards if the target is below the source, so that bytes are read before they are overwritten.
            let below = w.emit(Op::Compare(Predicate::ULt, a, b), bool);
            let (up, down, end) = (w.f.add_block(), w.f.add_block(), w.f.add_block());
            w.end(Terminator::CondBr {
                cond: below,
                then: up,
                otherwise: down,
            });
            w.at = up;
            w.repeat(zero, bytes, one, |w, i| w.copy_byte(to, from, i));
            w.end(Terminator::Br(end));
            w.at = down;
            w.repeat(zero, bytes, one, |w, i| {
                let rest = w.binary(BinaryOp::ISub, bytes, i);
                let one = w.int(1);
                let index = w.binary(BinaryOp::ISub, rest, one);
                w.copy_byte(to, from, index);
            });
            w.end(Terminator::Br(end));
            w.at = end;
        })
    }

    /// (to, value of type `ty`, whether to store it).
    pub(super) fn store_if_helper(&mut self, ty: TypeId) -> FunctionId {
        let ptr = self.module.types.ptr(AddressSpace::Global);
        let bool = self.module.types.bool();
        let name = format!("solum.store_if.{}", self.module.types.size_of(ty));
        self.helper(name, &[ptr, ty, bool], |w, params| {
            let &[to, value, whether] = params else {
                return;
            };
            let (inside, end) = (w.f.add_block(), w.f.add_block());
            w.end(Terminator::CondBr {
                cond: whether,
                then: inside,
                otherwise: end,
            });
            w.at = inside;
            w.store(to, value);
            w.end(Terminator::Br(end));
            w.at = end;
        })
    }

    /// (to, byte as `Int(8)`, bytes).
    pub(super) fn memset_helper(&mut self) -> FunctionId {
        let (ptr, int) = self.generic_and_int();
        let byte = self.module.types.int(8);
        self.helper("solum.memset".into(), &[ptr, byte, int], |w, params| {
            let &[to, value, bytes] = params else { return };
            let (zero, one) = (w.int(0), w.int(1));
            w.repeat(zero, bytes, one, |w, i| {
                let at = w.byte_at(to, i);
                w.store(at, value);
            });
        })
    }
}
