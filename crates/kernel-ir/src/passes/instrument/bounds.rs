//! Bounds of accesses.

use super::state::Instrument;
use crate::ir::{
    BinaryOp, CheckOp, ConvertOp, Flags, InstId, Op, Predicate, Rounding, Touch, ValueId,
};
use crate::passes::roots::Root;
use crate::types::{AddressSpace, Type};

impl Instrument<'_> {
    /// Checks that `bytes` bytes from `ptr` on lie in the allocation of its root.
    pub(super) fn check_bounds(&mut self, ptr: ValueId, bytes: u32, touch: Touch) {
        let Some(root) = self.roots.of(ptr) else {
            return;
        };
        if let Some(size) = self.variable_size(root) {
            self.check_variable(ptr, size, bytes, touch);
            return;
        }
        let Some((start, _)) = self.bounds_of(root) else {
            return;
        };
        let limit = self.limit(root, bytes);
        let offset = self.offset_from(ptr, start);
        let outside = self.at_least(offset, limit);
        self.tell(CheckOp::Bounds(touch, bytes), vec![outside, ptr, start]);
    }

    /// Checks that an address is a multiple of what the instruction promises. Private arrays are as aligned as they are
    /// declared.
    pub(super) fn check_alignment(&mut self, ptr: ValueId, align: u64, size: u64, touch: Touch) {
        let Ok(size) = u32::try_from(size) else {
            return;
        };
        if !self.checks.memory
            || align < 2
            || !align.is_power_of_two()
            || self.roots.is_private(ptr)
            || self.roots.is_image(ptr)
        {
            return;
        }
        let word = self.e.types.int(64);
        let address = self.convert(ConvertOp::PtrToInt, ptr, word);
        let mask = self.e.int(64, align - 1);
        let low = self.binary(BinaryOp::And, address, mask);
        let zero = self.e.int(64, 0);
        let flag = self.e.types.bool();
        let wrong = self.emit(Op::Compare(Predicate::INe, low, zero), flag);
        let align = self.e.int(64, align);
        self.tell(CheckOp::Alignment(touch, size), vec![wrong, ptr, align]);
    }

    /// As [`Self::check_bounds`], for a size that is only known at run time.
    pub(super) fn check_bounds_of(&mut self, ptr: ValueId, bytes: ValueId, touch: Touch) {
        if !self.checks.memory {
            return;
        }
        let Some(root) = self.roots.of(ptr) else {
            return;
        };
        if self.variable_size(root).is_some() {
            return;
        }
        let Some((start, size)) = self.bounds_of(root) else {
            return;
        };
        let one = self.e.int(64, 1);
        let end = self.binary(BinaryOp::UAddSat, size, one);
        let limit = self.binary(BinaryOp::USubSat, end, bytes);
        let offset = self.offset_from(ptr, start);
        let outside = self.at_least(offset, limit);
        self.tell(CheckOp::Bounds(touch, 0), vec![outside, ptr, start]);
    }

    /// The size of a variable that the module declares.
    fn variable_size(&self, root: Root) -> Option<u64> {
        match root {
            Root::Variable(_, _, size) | Root::Private(_, size) => Some(size),
            Root::Argument(_) | Root::Image | Root::Value(_) => None,
        }
    }

    /// Private arrays and work-group variables have no address that their neighbours do not share: the offset is computed
    /// from the indices.
    fn check_variable(&mut self, ptr: ValueId, size: u64, bytes: u32, touch: Touch) {
        let limit = (size + 1).saturating_sub(u64::from(bytes));
        let Some((terms, constant)) = self.indices(ptr) else {
            return;
        };
        if terms.is_empty() && (0..limit.cast_signed()).contains(&constant) {
            return;
        }
        let space = match self.roots.of(ptr) {
            Some(Root::Private(..)) => AddressSpace::Private,
            _ => match *self.e.ty(ptr) {
                Type::Ptr(space) => space,
                _ => return,
            },
        };
        let mut offset = self.e.int(64, constant.cast_unsigned());
        for (index, stride) in terms {
            let stride = self.e.int(64, stride.cast_unsigned());
            let term = self.binary(BinaryOp::IMul, index, stride);
            offset = self.binary(BinaryOp::IAdd, offset, term);
        }
        let limit = self.e.int(64, limit);
        let outside = self.at_least(offset, limit);
        let size = self.e.int(64, size);
        let check = CheckOp::VariableBounds(touch, bytes, space);
        self.tell(check, vec![outside, offset, size]);
    }

    /// The distance from a variable to `ptr`: indices with their strides, and a constant. `None` if the way is not a plain
    /// chain of offsets.
    fn indices(&self, ptr: ValueId) -> Option<(Vec<(ValueId, i64)>, i64)> {
        let (mut at, mut terms, mut constant) = (ptr, Vec::new(), 0i64);
        // Longer chains than any of a program that clang has optimised.
        for _ in 0..64 {
            match self.e.def(at) {
                None | Some(Op::Alloca { .. }) => return Some((terms, constant)),
                Some(Op::PtrOffset { ptr, index, offset }) => {
                    constant = constant.wrapping_add(*offset);
                    terms.extend(*index);
                    at = *ptr;
                }
                Some(
                    Op::Copy(v)
                    | Op::GenericToExplicit(v, _)
                    | Op::Convert(ConvertOp::AddressSpace | ConvertOp::Bitcast, v, _),
                ) => at = *v,
                Some(_) => return None,
            }
        }
        None
    }

    fn offset_from(&mut self, ptr: ValueId, start: ValueId) -> ValueId {
        let word = self.e.types.int(64);
        let address = self.convert(ConvertOp::PtrToInt, ptr, word);
        self.binary(BinaryOp::ISub, address, start)
    }

    fn at_least(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let flag = self.e.types.bool();
        self.emit(Op::Compare(Predicate::UGe, a, b), flag)
    }

    /// First byte and size of the root's allocation.
    fn bounds_of(&mut self, root: Root) -> Option<(ValueId, ValueId)> {
        if let Some(&known) = self.bounds.of.get(&root) {
            return Some(known);
        }
        let word = self.e.types.int(64);
        let (start, size, operands) = match root {
            Root::Argument(n) => (
                CheckOp::ArgumentStart(n),
                CheckOp::ArgumentSize(n),
                Vec::new(),
            ),
            Root::Value(v) if self.is_local_or_private(v) => return None,
            Root::Value(v) => (CheckOp::AllocationStart, CheckOp::AllocationSize, vec![v]),
            Root::Variable(..) | Root::Private(..) | Root::Image => return None,
        };
        // A block of local memory begins where the argument points to.
        let local = match root {
            Root::Argument(n) => self.e.f.params.get(n as usize).copied(),
            _ => None,
        };
        let start = match local.filter(|&param| self.is_local_or_private(param)) {
            Some(param) => Op::Convert(ConvertOp::PtrToInt, param, Rounding::Default),
            None => Op::Check(start, operands.clone()),
        };
        let (a, start) = self.e.make(start, word, 0);
        let (b, size) = self.e.make(Op::Check(size, operands), word, 0);
        self.put_behind(root, &[a, b]);
        let known = (start, size);
        self.bounds.of.insert(root, known);
        Some(known)
    }

    /// The first offset at which an access of `bytes` bytes leaves the root's allocation; it stands behind the bounds.
    fn limit(&mut self, root: Root, bytes: u32) -> ValueId {
        if let Some(&known) = self.bounds.limits.get(&(root, bytes)) {
            return known;
        }
        let Some((_, size)) = self.bounds_of(root) else {
            return self.e.int(64, u64::MAX);
        };
        let word = self.e.types.int(64);
        let (one, bytes_value) = (self.e.int(64, 1), self.e.int(64, u64::from(bytes)));
        let plain = Flags::default();
        let end = Op::Binary(BinaryOp::UAddSat, size, one, plain);
        let (a, end) = self.e.make(end, word, 0);
        let limit = Op::Binary(BinaryOp::USubSat, end, bytes_value, plain);
        let (b, limit) = self.e.make(limit, word, 0);
        self.put_behind(root, &[a, b]);
        self.bounds.limits.insert((root, bytes), limit);
        limit
    }

    fn is_local_or_private(&self, v: ValueId) -> bool {
        matches!(
            self.e.ty(v),
            Type::Ptr(AddressSpace::Private | AddressSpace::Local)
        )
    }

    fn put_behind(&mut self, root: Root, insts: &[InstId]) {
        match root {
            Root::Value(v) if self.e.def(v).is_some() => {
                self.bounds.behind.entry(v).or_default().extend(insts);
            }
            _ => self.prologue.extend(insts),
        }
    }

    /// Places the facts of roots behind the definitions of these.
    pub(super) fn place_facts(&mut self) {
        let behind = std::mem::take(&mut self.bounds.behind);
        if behind.is_empty() {
            return;
        }
        for block in 0..self.e.f.blocks.len() {
            let old = std::mem::take(&mut self.e.f.blocks[block].insts);
            let mut new = Vec::with_capacity(old.len());
            // No instruction may stand between phis.
            let mut waiting: Vec<InstId> = Vec::new();
            for id in old {
                let inst = &self.e.f.insts[id.index()];
                if !matches!(inst.op, Op::Phi(_)) {
                    new.append(&mut waiting);
                }
                new.push(id);
                let facts = inst.result.and_then(|result| behind.get(&result));
                waiting.extend(facts.into_iter().flatten());
            }
            new.append(&mut waiting);
            self.e.f.blocks[block].insts = new;
        }
    }
}
