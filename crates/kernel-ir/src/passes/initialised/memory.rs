//! Shadows of memory: the pointer to a pointer's shadow, and loads and stores there.

use super::needs::{MOST_BYTES, ShadowKind};
use super::state::Initialised;
use crate::ir::{
    BinaryOp, CheckOp, ConvertOp, Flags, Global, GlobalId, InstId, Op, Predicate, Rounding,
    UnaryOp, ValueDef, ValueId,
};
use crate::passes::roots::Root;
use crate::types::{AddressSpace, Type, TypeId};

impl Initialised<'_> {
    /// The pointer to the shadow of what `ptr` points to.
    pub(super) fn shadow_pointer(&mut self, ptr: ValueId) -> Option<ValueId> {
        if let Some(&known) = self.pointers.get(&ptr) {
            return Some(known);
        }
        if matches!(self.e.f.values[ptr.index()].def, ValueDef::Const(_)) {
            return Some(ptr);
        }
        let root = self.roots.of(ptr)?;
        let ty = self.e.f.ty(ptr);
        let made = match root {
            Root::Argument(n) if self.e.f.params.get(n as usize) == Some(&ptr) => {
                let op = Op::Check(CheckOp::ArgumentShadow(n), Vec::new());
                let (inst, made) = self.e.make(op, ty, 0);
                self.prologue.push(inst);
                made
            }
            Root::Variable(v, id, size) if v == ptr => self.variable(id, size, ty)?,
            Root::Private(v, size) if v == ptr => self.array(v, size, ty)?,
            _ => return None,
        };
        self.pointers.insert(ptr, made);
        Some(made)
    }

    /// A work-group variable for the shadow of another.
    fn variable(&mut self, id: GlobalId, size: u64, ty: TypeId) -> Option<ValueId> {
        let of = self.globals.get(id.index())?;
        let shadow = Global {
            name: String::new(),
            space: AddressSpace::Local,
            ty: of.ty,
            size,
            per_work_item: false,
            align: of.align,
            init: None,
            exported: false,
        };
        let new = GlobalId(self.globals.len() as u32);
        self.globals.push(shadow);
        Some(self.e.f.add_value(ty, ValueDef::Global(new)))
    }

    /// A private array for the shadow of another; it begins as ones, since nothing is initialised.
    fn array(&mut self, of: ValueId, size: u64, ty: TypeId) -> Option<ValueId> {
        let ValueDef::Inst(inst) = self.e.f.values[of.index()].def else {
            return None;
        };
        let Op::Alloca { align, .. } = self.e.f.insts[inst.index()].op else {
            return None;
        };
        let (inst, made) = self.e.make(Op::Alloca { size, align }, ty, 0);
        self.prologue.push(inst);
        let out = std::mem::take(&mut self.out);
        self.fill(made, size, align, u64::MAX);
        let fill = std::mem::replace(&mut self.out, out);
        self.prologue.extend(fill);
        Some(made)
    }

    /// Sets `size` bytes to zeros or ones.
    fn fill(&mut self, ptr: ValueId, size: u64, align: u64, word: u64) {
        for (offset, bytes) in pieces(size, align) {
            let at = self.at(ptr, offset);
            let bits = (bytes * 8) as u8;
            let value = self.e.int(bits, word & (u64::MAX >> (64 - bits)));
            self.store(at, value, bytes);
        }
    }

    /// The shadow pointer of the result of `op`, from those of its operands; the phis' inputs follow later.
    pub(super) fn derive_pointer(&mut self, op: &Op, result: ValueId) {
        if !self.needs.pointers[result.index()] {
            return;
        }
        let root = self.roots.of(result);
        if root == Some(Root::Value(result)) {
            // Behind the phis: see `finish_phis`.
            if !matches!(op, Op::Phi(_)) {
                self.ask(result);
            }
            return;
        }
        if matches!(op, Op::Alloca { .. }) {
            // In the prologue, when it is needed.
            return;
        }
        let ty = self.e.f.ty(result);
        let new = match op {
            Op::PtrOffset { ptr, index, offset } => {
                self.shadow_pointer(*ptr).map(|ptr| Op::PtrOffset {
                    ptr,
                    index: *index,
                    offset: *offset,
                })
            }
            Op::Copy(v) => self.shadow_pointer(*v).map(Op::Copy),
            Op::GenericToExplicit(v, _)
            | Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, v, _) => {
                self.shadow_pointer(*v).map(|v| match self.e.f.ty(v) == ty {
                    true => Op::Copy(v),
                    false => Op::Convert(ConvertOp::AddressSpace, v, Rounding::Default),
                })
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => {
                let then = self.shadow_pointer(*then);
                let otherwise = self.shadow_pointer(*otherwise);
                then.zip(otherwise).map(|(then, otherwise)| Op::Select {
                    cond: *cond,
                    then,
                    otherwise,
                })
            }
            Op::Phi(_) => Some(Op::Phi(Vec::new())),
            _ => None,
        };
        if let Some(new) = new {
            let made = self.emit(new, ty);
            self.pointers.insert(result, made);
        }
    }

    /// Asks the runtime for the shadow of what a pointer points to.
    pub(super) fn ask(&mut self, ptr: ValueId) {
        let ty = self.e.f.ty(ptr);
        let op = Op::Check(CheckOp::AllocationShadow, vec![ptr]);
        let made = self.emit(op, ty);
        self.pointers.insert(ptr, made);
    }

    pub(super) fn is_inverted(&self, ptr: ValueId) -> bool {
        matches!(self.needs.place(ptr), ShadowKind::Local(_))
    }

    /// The type of a shadow in memory; that of a value of type `ty` is `shadow_type`.
    fn in_memory(&mut self, ty: TypeId) -> Option<TypeId> {
        let shadow = self.shadow_type(ty)?;
        let byte = self.e.types.int(8);
        Some(match *self.e.types.get(shadow) {
            Type::Bool => byte,
            Type::Vector(element, n) if *self.e.types.get(element) == Type::Bool => {
                self.e.types.intern(Type::Vector(byte, n))
            }
            _ => shadow,
        })
    }

    /// The shadow of a value of type `ty` in the memory behind `ptr`.
    pub(super) fn load_shadow(&mut self, ptr: ValueId, ty: TypeId, align: u64) -> Option<ValueId> {
        if !self.needs.has_shadow(ptr) {
            return None;
        }
        let shadow = self.shadow_pointer(ptr)?;
        let in_memory = self.in_memory(ty)?;
        let load = Op::Load {
            ptr: shadow,
            align,
            volatile: false,
        };
        let loaded = self.emit(load, in_memory);
        let wanted = self.shadow_type(ty)?;
        let inverted = self.is_inverted(ptr);
        if in_memory == wanted {
            return Some(match inverted {
                true => self.not(loaded),
                false => loaded,
            });
        }
        let zero = self.zeros(in_memory);
        let predicate = match inverted {
            true => Predicate::IEq,
            false => Predicate::INe,
        };
        Some(self.compare(predicate, loaded, zero))
    }

    /// Stores the shadow of a value of type `ty`; `None`: it is initialised.
    pub(super) fn store_shadow(
        &mut self,
        ptr: ValueId,
        value: Option<ValueId>,
        ty: TypeId,
        align: u64,
    ) {
        if !self.needs.has_shadow(ptr) {
            return;
        }
        let Some(shadow) = self.shadow_pointer(ptr) else {
            return;
        };
        let inverted = self.is_inverted(ptr);
        let Some(in_memory) = self.in_memory(ty) else {
            let size = self.e.types.size_of(ty);
            if size <= MOST_BYTES {
                let word = if inverted { u64::MAX } else { 0 };
                self.fill(shadow, size, align, word);
            } else {
                self.tell(CheckOp::Unseen, Vec::new());
            }
            return;
        };
        let stored = match value {
            None if inverted => self.ones(in_memory),
            None => self.zeros(in_memory),
            Some(value) => {
                let value = match self.e.f.ty(value) == in_memory {
                    true => value,
                    false => self.spread(value, in_memory),
                };
                match inverted {
                    true => self.not(value),
                    false => value,
                }
            }
        };
        self.store(shadow, stored, align);
    }

    pub(super) fn not(&mut self, v: ValueId) -> ValueId {
        let ty = self.e.f.ty(v);
        self.emit(Op::Unary(UnaryOp::Not, v, Flags::default()), ty)
    }

    fn store(&mut self, ptr: ValueId, value: ValueId, align: u64) {
        let store = Op::Store {
            ptr,
            value,
            align,
            volatile: false,
        };
        let inst: InstId = self.e.f.add_inst(store, None, 0).0;
        self.out.push(inst);
    }

    fn at(&mut self, ptr: ValueId, offset: u64) -> ValueId {
        if offset == 0 {
            return ptr;
        }
        let ty = self.e.f.ty(ptr);
        let op = Op::PtrOffset {
            ptr,
            index: None,
            offset: offset.cast_signed(),
        };
        self.emit(op, ty)
    }

    /// The shadow of a copy.
    pub(super) fn copy(&mut self, dst: ValueId, src: ValueId, size: ValueId, align: u64) {
        if !self.needs.has_shadow(dst) {
            return;
        }
        let known = self.e.known_int(size).filter(|&bytes| bytes <= MOST_BYTES);
        let to = self.shadow_pointer(dst);
        let from = match self.needs.has_shadow(src) {
            true => self.shadow_pointer(src),
            false => None,
        };
        if let (None, ShadowKind::Private(_), Some(to), Some(from)) =
            (known, self.needs.place(dst), to, from)
        {
            self.tell_op(Op::CopyMemory {
                dst: to,
                src: from,
                size,
                align,
            });
            return;
        }
        let (Some(bytes), Some(to)) = (known, to) else {
            self.tell(CheckOp::Unseen, Vec::new());
            return;
        };
        let inverted = self.is_inverted(dst);
        let Some(from) = from else {
            let word = if inverted { u64::MAX } else { 0 };
            self.fill(to, bytes, align, word);
            return;
        };
        let same = inverted == self.is_inverted(src);
        let mut any: Option<ValueId> = None;
        for (offset, bytes) in pieces(bytes, align) {
            let ty = self.e.types.int((bytes * 8) as u8);
            let load = Op::Load {
                ptr: self.at(from, offset),
                align: bytes,
                volatile: false,
            };
            let loaded = self.emit(load, ty);
            let stored = if same { loaded } else { self.not(loaded) };
            let at = self.at(to, offset);
            self.store(at, stored, bytes);
            if self.needs.place(dst) == ShadowKind::Known {
                let bad = self.any(stored);
                any = Some(match any {
                    Some(any) => self.binary(BinaryOp::Or, any, bad),
                    None => bad,
                });
            }
        }
        // Whoever reads the memory after the launch is told of bytes that are not initialised.
        if let Some(any) = any {
            self.stored(dst, any, bytes, true, None);
        }
    }
}

/// Offsets and sizes of the integers that make up `size` bytes.
fn pieces(size: u64, align: u64) -> Vec<(u64, u64)> {
    let (mut all, mut at) = (Vec::new(), 0);
    let widest = align.clamp(1, 8);
    while at < size {
        let mut bytes = widest;
        while at + bytes > size || at % bytes != 0 {
            bytes /= 2;
        }
        all.push((at, bytes));
        at += bytes;
    }
    all
}
