//! Which memory has shadows, which values may be uninitialised, and of which of these the shadow is needed.

use std::collections::{HashMap, HashSet};

use crate::ir::{
    AtomicOp, ConvertOp, Function, Global, GroupOp, InstId, Op, Terminator, ValueDef, ValueId,
};
use crate::passes::roots::{Root, Roots};
use crate::types::{AddressSpace, ConstId, Constant, Constants, Type, TypeId, Types};

/// Bytes of private arrays that have shadows, and of copies in local and private memory that these follow: their shadows are
/// set word by word.
pub(super) const MOST_BYTES: u64 = 1024;

/// Where the shadow of a pointer's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShadowKind {
    /// There is none: the memory counts as initialised.
    Nowhere,
    /// In a work-group variable or block beside it, bits set where it *is* initialised: those of its root.
    Local(Root),
    /// In a private array beside it.
    Private(Root),
    /// The runtime knows, bits set where it is not initialised.
    Known,
}

/// Facts of a function.
pub(super) struct Needs {
    places: Vec<ShadowKind>,
    /// Values that may be uninitialised.
    dirty: Vec<bool>,
    /// Values whose shadows are needed.
    pub(super) shadows: Vec<bool>,
    /// Pointers whose shadow pointers are needed.
    pub(super) pointers: Vec<bool>,
    /// Private arrays and work-group variables whose shadows are needed.
    pub(super) live: HashSet<Root>,
}

impl Needs {
    pub(super) fn place(&self, ptr: ValueId) -> ShadowKind {
        self.places
            .get(ptr.index())
            .copied()
            .unwrap_or(ShadowKind::Nowhere)
    }

    /// Whether the shadow of the memory behind `ptr` exists.
    pub(super) fn has_shadow(&self, ptr: ValueId) -> bool {
        match self.place(ptr) {
            ShadowKind::Nowhere => false,
            ShadowKind::Local(root) | ShadowKind::Private(root) => self.live.contains(&root),
            ShadowKind::Known => true,
        }
    }

    pub(super) fn is_dirty(&self, v: ValueId) -> bool {
        self.dirty.get(v.index()).copied().unwrap_or(false)
    }
}

/// Computes the facts of a function.
pub(super) struct Finder<'m> {
    pub(super) types: &'m Types,
    pub(super) constants: &'m Constants,
    pub(super) globals: &'m [Global],
    pub(super) f: &'m Function,
    pub(super) roots: &'m Roots,
}

impl Finder<'_> {
    pub(super) fn find(&self) -> Needs {
        let escaped = self.escaped();
        let places = (0..self.f.values.len() as u32)
            .map(|v| self.place(ValueId(v), &escaped))
            .collect();
        let count = self.f.values.len();
        let mut needs = Needs {
            places,
            dirty: vec![false; count],
            shadows: vec![false; count],
            pointers: vec![false; count],
            live: HashSet::new(),
        };
        self.find_dirty(&mut needs);
        self.find_needed(&mut needs);
        needs
    }

    fn insts(&self) -> impl Iterator<Item = InstId> {
        self.f.blocks.iter().flat_map(|block| &block.insts).copied()
    }

    fn op(&self, inst: InstId) -> &Op {
        &self.f.insts[inst.index()].op
    }

    fn is_in(&self, v: ValueId, space: AddressSpace) -> bool {
        *self.types.get(self.f.ty(v)) == Type::Ptr(space)
    }

    fn place(&self, ptr: ValueId, escaped: &HashSet<Root>) -> ShadowKind {
        let Some(root) = self.roots.of(ptr) else {
            return ShadowKind::Nowhere;
        };
        let is_local = match root {
            Root::Argument(n) => {
                let Some(&param) = self.f.params.get(n as usize) else {
                    return ShadowKind::Nowhere;
                };
                if self.is_in(param, AddressSpace::Private) {
                    return ShadowKind::Nowhere;
                }
                if !self.is_in(param, AddressSpace::Local) {
                    return ShadowKind::Known;
                }
                true
            }
            Root::Variable(_, id, size) => self
                .globals
                .get(id.index())
                .is_some_and(|global| global.space == AddressSpace::Local && size > 0),
            Root::Private(v, size) => {
                let is_alloca = matches!(self.f.values[v.index()].def, ValueDef::Inst(_));
                let follows = is_alloca && (1..=MOST_BYTES).contains(&size);
                return match follows && !escaped.contains(&root) {
                    true => ShadowKind::Private(root),
                    false => ShadowKind::Nowhere,
                };
            }
            Root::Image => return ShadowKind::Nowhere,
            Root::Value(v) => {
                let is_own =
                    self.is_in(v, AddressSpace::Local) || self.is_in(v, AddressSpace::Private);
                return if is_own {
                    ShadowKind::Nowhere
                } else {
                    ShadowKind::Known
                };
            }
        };
        match is_local && !escaped.contains(&root) {
            true => ShadowKind::Local(root),
            false => ShadowKind::Nowhere,
        }
    }

    /// Private arrays and local memory that may be accessed through pointers whose root is another, or in ways that are not
    /// followed.
    fn escaped(&self) -> HashSet<Root> {
        let mut escaped = HashSet::new();
        loop {
            let before = escaped.len();
            escaped = self.escaped_with(escaped);
            if escaped.len() == before {
                return escaped;
            }
        }
    }

    fn escaped_with(&self, mut escaped: HashSet<Root>) -> HashSet<Root> {
        let has_int_to_ptr = self
            .insts()
            .any(|inst| matches!(self.op(inst), Op::Convert(ConvertOp::IntToPtr, ..)));
        for inst in self.insts() {
            let inst = &self.f.insts[inst.index()];
            let same = |v: ValueId| {
                let result = inst.result.and_then(|result| self.roots.of(result));
                result == self.roots.of(v)
            };
            let mut used = Vec::new();
            match &inst.op {
                Op::Load { ptr, .. } => {
                    if !self.is_plain(inst.result.map(|result| self.f.ty(result))) {
                        used.push(*ptr);
                    }
                }
                Op::Store { ptr, value, .. } => {
                    used.push(*value);
                    if !self.is_plain(Some(self.f.ty(*value))) {
                        used.push(*ptr);
                    }
                }
                Op::Atomic {
                    value, comparator, ..
                } => used.extend([*value, *comparator].into_iter().flatten()),
                Op::CopyMemory { dst, src, size, .. } => {
                    let known = self.known_int(*size);
                    if known.is_none_or(|bytes| bytes > MOST_BYTES) {
                        let [to, from] = [*dst, *src].map(|ptr| self.place(ptr, &escaped));
                        let follows = matches!(to, ShadowKind::Private(_))
                            && matches!(from, ShadowKind::Private(_) | ShadowKind::Known);
                        if !follows {
                            used.extend([*dst, *src]);
                        }
                    }
                }
                Op::Compare(..) | Op::Check(..) | Op::GenericIs(..) => {}
                Op::Convert(ConvertOp::PtrToInt, ..) if !has_int_to_ptr => {}
                Op::Group(GroupOp::BlockRead | GroupOp::BlockWrite, _, args) => {
                    used.extend(args.iter().skip(1));
                }
                Op::PtrOffset { .. }
                | Op::Copy(_)
                | Op::GenericToExplicit(..)
                | Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, ..)
                | Op::Select { .. }
                | Op::Phi(_) => inst.op.operands(|v| {
                    if !same(v) {
                        used.push(v);
                    }
                }),
                op => op.operands(|v| used.push(v)),
            }
            escaped.extend(used.into_iter().filter_map(|v| self.roots.of(v)));
        }
        for block in &self.f.blocks {
            escaped.extend(block.term.operand().and_then(|v| self.roots.of(v)));
        }
        escaped
    }

    /// Whether values of a type have shadows: scalars and vectors.
    fn is_plain(&self, ty: Option<TypeId>) -> bool {
        ty.is_some_and(|ty| self.types.scalar_of(ty).is_some())
    }

    fn known_int(&self, v: ValueId) -> Option<u64> {
        let ValueDef::Const(id) = self.f.values[v.index()].def else {
            return None;
        };
        match self.constants.get(id) {
            Constant::Int(n) => Some(*n),
            _ => None,
        }
    }

    fn is_undefined(&self, id: ConstId) -> bool {
        match self.constants.get(id) {
            Constant::Undef => self.types.scalar_of(self.constants.ty(id)).is_some(),
            Constant::Composite(parts) => {
                matches!(self.types.get(self.constants.ty(id)), Type::Vector(..))
                    && parts.iter().any(|&part| self.is_undefined(part))
            }
            _ => false,
        }
    }

    fn find_dirty(&self, needs: &mut Needs) {
        for (i, value) in self.f.values.iter().enumerate() {
            if let ValueDef::Const(id) = value.def {
                needs.dirty[i] = self.is_undefined(id);
            }
        }
        let order = self.f.reverse_post_order();
        loop {
            let mut changed = false;
            for block in &order {
                for &inst in &self.f.blocks[block.index()].insts {
                    let inst = &self.f.insts[inst.index()];
                    let Some(result) = inst.result else { continue };
                    if needs.dirty[result.index()] || !self.is_plain(Some(self.f.ty(result))) {
                        continue;
                    }
                    if self.makes_dirty(&inst.op, needs) {
                        needs.dirty[result.index()] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn makes_dirty(&self, op: &Op, needs: &Needs) -> bool {
        let has_place = |ptr: ValueId| needs.place(ptr) != ShadowKind::Nowhere;
        match op {
            Op::Load { ptr, .. }
            | Op::Atomic {
                op: AtomicOp::Load | AtomicOp::Exchange,
                ptr,
                ..
            } => has_place(*ptr),
            Op::Group(GroupOp::BlockRead, _, args) => {
                args.first().is_some_and(|&ptr| has_place(ptr))
            }
            Op::Shuffle(_, _, lanes) if lanes.contains(&u32::MAX) => true,
            Op::Phi(_)
            | Op::Binary(..)
            | Op::Unary(..)
            | Op::Compare(..)
            | Op::Convert(..)
            | Op::Select { .. }
            | Op::Math(..)
            | Op::Construct(_)
            | Op::Extract(..)
            | Op::Insert(..)
            | Op::ExtractDynamic(..)
            | Op::InsertDynamic(..)
            | Op::Shuffle(..)
            | Op::PtrOffset { .. }
            | Op::GenericToExplicit(..)
            | Op::GenericIs(..)
            | Op::Group(..)
            | Op::Copy(_) => {
                let mut dirty = false;
                op.operands(|v| dirty |= needs.is_dirty(v));
                dirty
            }
            _ => false,
        }
    }

    fn find_needed(&self, needs: &mut Needs) {
        let mut search = Search {
            finder: self,
            needs,
            stores: HashMap::new(),
            work: Vec::new(),
        };
        for block in &self.f.blocks {
            for &inst in &block.insts {
                search.use_of(self.op(inst));
            }
            match block.term {
                Terminator::CondBr { cond, .. } => search.shadow(cond),
                Terminator::Switch { value, .. } => search.shadow(value),
                _ => {}
            }
        }
        search.run();
    }
}

/// A search for what is needed.
struct Search<'s, 'm> {
    finder: &'s Finder<'m>,
    needs: &'s mut Needs,
    /// Stores to memory whose shadow may not be needed.
    stores: HashMap<Root, Vec<(ValueId, Option<ValueId>)>>,
    work: Vec<Need>,
}

#[derive(Clone, Copy)]
enum Need {
    Shadow(ValueId),
    Pointer(ValueId),
}

impl Search<'_, '_> {
    /// The shadow of a value.
    fn shadow(&mut self, v: ValueId) {
        if self.needs.is_dirty(v)
            && matches!(self.finder.f.values[v.index()].def, ValueDef::Inst(_))
            && !std::mem::replace(&mut self.needs.shadows[v.index()], true)
        {
            self.work.push(Need::Shadow(v));
        }
    }

    /// The shadow pointer of a pointer to memory whose shadow is read.
    fn pointer(&mut self, ptr: ValueId) {
        let place = self.needs.place(ptr);
        if place == ShadowKind::Nowhere {
            return;
        }
        if !std::mem::replace(&mut self.needs.pointers[ptr.index()], true) {
            self.work.push(Need::Pointer(ptr));
        }
        if let ShadowKind::Local(root) | ShadowKind::Private(root) = place
            && self.needs.live.insert(root)
        {
            for (ptr, value) in self.stores.remove(&root).unwrap_or_default() {
                self.store(ptr, value);
            }
        }
    }

    /// The shadow of memory that is written.
    fn store(&mut self, ptr: ValueId, value: Option<ValueId>) {
        match self.needs.place(ptr) {
            ShadowKind::Nowhere => {}
            ShadowKind::Local(root) | ShadowKind::Private(root)
                if !self.needs.live.contains(&root) =>
            {
                self.stores.entry(root).or_default().push((ptr, value));
            }
            _ => {
                self.pointer(ptr);
                if let Some(value) = value {
                    self.shadow(value);
                }
            }
        }
    }

    /// The needs of the instruction itself.
    fn use_of(&mut self, op: &Op) {
        match op {
            Op::Load { ptr, .. } => self.shadow(*ptr),
            Op::Store { ptr, value, .. } => {
                self.shadow(*ptr);
                self.store(*ptr, Some(*value));
            }
            Op::Atomic { op, ptr, value, .. } => {
                self.shadow(*ptr);
                match op {
                    AtomicOp::Load => {}
                    AtomicOp::Store | AtomicOp::Exchange | AtomicOp::FlagClear => {
                        self.store(*ptr, *value);
                    }
                    _ => {
                        self.pointer(*ptr);
                        if let Some(value) = value {
                            self.shadow(*value);
                        }
                    }
                }
            }
            Op::CopyMemory { dst, src, .. } => {
                self.shadow(*dst);
                self.shadow(*src);
                self.pointer(*dst);
                self.pointer(*src);
            }
            Op::Group(op, _, args) => match (op, &args[..]) {
                (GroupOp::BlockRead, &[ptr]) => self.shadow(ptr),
                (GroupOp::BlockWrite, &[ptr, value]) => {
                    self.shadow(ptr);
                    self.store(ptr, Some(value));
                }
                (GroupOp::Broadcast, &[_, source]) => self.shadow(source),
                _ => {}
            },
            _ => {}
        }
    }

    fn run(&mut self) {
        while let Some(need) = self.work.pop() {
            let (Need::Shadow(v) | Need::Pointer(v)) = need;
            let ValueDef::Inst(inst) = self.finder.f.values[v.index()].def else {
                continue;
            };
            let op = self.finder.op(inst).clone();
            match need {
                Need::Shadow(_) => self.operands_of(&op),
                Need::Pointer(_) => {
                    let place = self.needs.place(v);
                    let is_root = self.finder.roots.of(v) == Some(Root::Value(v));
                    if place != ShadowKind::Nowhere && !is_root {
                        op.operands(|v| {
                            if self.finder.roots.of(v).is_some() {
                                self.pointer(v);
                            }
                        });
                    }
                }
            }
        }
    }

    /// The needs of the shadow of an operation's result.
    fn operands_of(&mut self, op: &Op) {
        match op {
            Op::Load { ptr, .. } | Op::Atomic { ptr, .. } => self.pointer(*ptr),
            Op::Group(GroupOp::BlockRead, _, args) => {
                if let Some(&ptr) = args.first() {
                    self.pointer(ptr);
                }
            }
            op => op.operands(|v| self.shadow(v)),
        }
    }
}
