//! Shadows of values: a bit is set where the value's bit is not initialised.
//!
//! Integers have a shadow bit by bit, floats all or nothing in an integer of their size, pointers in an Int(64), bools in a
//! bool, vectors component by component. Where the exact shadow would cost more than the operation, it is that of a result
//! whose bits depend on the operands' bits at the same place: sums have no carry. That may miss a value, and never accuses one.

use super::state::Initialised;
use crate::ir::{
    BinaryOp, ConvertOp, Flags, GroupOp, GroupScope, Op, Predicate, Reduction, Rounding, UnaryOp,
    ValueDef, ValueId,
};
use crate::types::{ConstId, Constant, Type, TypeId};

impl Initialised<'_> {
    /// The type of the shadow of a value of type `ty`; `None` for aggregates, which have none.
    pub(super) fn shadow_type(&mut self, ty: TypeId) -> Option<TypeId> {
        Some(match *self.e.types.get(ty) {
            Type::Bool | Type::Int(_) => ty,
            Type::Float(bits) => self.e.types.int(bits),
            Type::Ptr(_) => self.e.types.int(64),
            Type::Vector(element, n) => {
                let element = self.shadow_type(element)?;
                self.e.types.intern(Type::Vector(element, n))
            }
            Type::Void | Type::Array(..) | Type::Struct { .. } => return None,
        })
    }

    /// The shadow of `v`; `None` if it is initialised.
    pub(super) fn shadow(&mut self, v: ValueId) -> Option<ValueId> {
        if !self.needs.is_dirty(v) {
            return None;
        }
        match self.e.f.values[v.index()].def {
            ValueDef::Inst(_) => self.shadows.get(&v).copied(),
            ValueDef::Const(id) => {
                let id = self.constant_shadow(id)?;
                Some(self.e.constant(id))
            }
            ValueDef::Param(_) | ValueDef::Global(_) => None,
        }
    }

    fn constant_shadow(&mut self, id: ConstId) -> Option<ConstId> {
        let ty = self.shadow_type(self.e.constants.ty(id))?;
        match self.e.constants.get(id).clone() {
            Constant::Undef => Some(self.filled(ty, true)),
            Constant::Composite(parts) => {
                let parts: Option<Vec<ConstId>> = parts
                    .into_iter()
                    .map(|part| self.constant_shadow(part))
                    .collect();
                Some(self.e.constants.intern(ty, Constant::Composite(parts?)))
            }
            _ => Some(self.filled(ty, false)),
        }
    }

    /// A shadow with all bits set, or none.
    fn filled(&mut self, ty: TypeId, set: bool) -> ConstId {
        match *self.e.types.get(ty) {
            Type::Vector(element, n) => {
                let one = self.filled(element, set);
                let parts = Constant::Composite(vec![one; n as usize]);
                self.e.constants.intern(ty, parts)
            }
            Type::Bool => self.e.constants.intern(ty, Constant::Bool(set)),
            Type::Int(bits) if set => {
                let all = u64::MAX >> (64 - u32::from(bits));
                self.e.constants.intern(ty, Constant::Int(all))
            }
            _ => self.e.constants.intern(ty, Constant::Int(0)),
        }
    }

    pub(super) fn ones(&mut self, ty: TypeId) -> ValueId {
        let id = self.filled(ty, true);
        self.e.constant(id)
    }

    pub(super) fn zeros(&mut self, ty: TypeId) -> ValueId {
        let id = self.filled(ty, false);
        self.e.constant(id)
    }

    /// The shadow of `v` as a value in any case.
    fn shadow_or_zeros(&mut self, v: ValueId) -> Option<ValueId> {
        if let Some(shadow) = self.shadow(v) {
            return Some(shadow);
        }
        let ty = self.shadow_type(self.e.f.ty(v))?;
        Some(self.zeros(ty))
    }

    fn is_bool(&self, ty: TypeId) -> bool {
        let scalar = self.e.types.scalar_of(ty);
        scalar.is_some_and(|ty| *self.e.types.get(ty) == Type::Bool)
    }

    fn lanes(&self, v: ValueId) -> u32 {
        self.e.types.lane_count(self.e.f.ty(v))
    }

    pub(super) fn compare(&mut self, predicate: Predicate, a: ValueId, b: ValueId) -> ValueId {
        let flag = self.e.types.bool();
        let ty = match *self.e.ty(a) {
            Type::Vector(_, n) => self.e.types.intern(Type::Vector(flag, n)),
            _ => flag,
        };
        self.emit(Op::Compare(predicate, a, b), ty)
    }

    fn select(&mut self, cond: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        let ty = self.e.f.ty(then);
        let op = Op::Select {
            cond,
            then,
            otherwise,
        };
        self.emit(op, ty)
    }

    fn unary(&mut self, op: UnaryOp, v: ValueId) -> ValueId {
        let ty = self.e.f.ty(v);
        self.emit(Op::Unary(op, v, Flags::default()), ty)
    }

    /// Whether a shadow has a bit set, for each component.
    fn any_by_lane(&mut self, shadow: ValueId) -> ValueId {
        let ty = self.e.f.ty(shadow);
        if self.is_bool(ty) {
            return shadow;
        }
        let zero = self.zeros(ty);
        self.compare(Predicate::INe, shadow, zero)
    }

    /// Whether a shadow has a bit set.
    pub(super) fn any(&mut self, shadow: ValueId) -> ValueId {
        let by_lane = self.any_by_lane(shadow);
        if self.lanes(by_lane) == 1 {
            return by_lane;
        }
        let flag = self.e.types.bool();
        let op = Op::Unary(UnaryOp::AnyLane, by_lane, Flags::default());
        self.emit(op, flag)
    }

    /// A shadow of type `ty` with all bits set where the Bool is.
    pub(super) fn spread(&mut self, flag: ValueId, ty: TypeId) -> ValueId {
        if self.e.f.ty(flag) == ty {
            return flag;
        }
        let (ones, zeros) = (self.ones(ty), self.zeros(ty));
        self.select(flag, ones, zeros)
    }

    fn or(&mut self, a: Option<ValueId>, b: Option<ValueId>) -> Option<ValueId> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.binary(BinaryOp::Or, a, b)),
            (one, None) | (None, one) => one,
        }
    }

    /// All bits of each component of the result depend on all bits of the operands' component.
    fn collapse(&mut self, operands: &[ValueId], ty: TypeId) -> Option<ValueId> {
        let ty = self.shadow_type(ty)?;
        let lanes = self.e.types.lane_count(ty);
        let (mut each, mut all) = (None, None);
        for &v in operands {
            let Some(shadow) = self.shadow(v) else {
                continue;
            };
            if self.lanes(shadow) == lanes {
                let flag = self.any_by_lane(shadow);
                each = self.or(each, Some(flag));
            } else {
                let flag = self.any(shadow);
                all = self.or(all, Some(flag));
            }
        }
        let each = each.map(|flag| self.spread(flag, ty));
        let all = all.map(|flag| self.spread(flag, ty));
        self.or(each, all)
    }

    /// The shadow of the result of `op`, which is of type `ty`; `None` if it is initialised.
    pub(super) fn shadow_of(&mut self, op: &Op, ty: TypeId) -> Option<ValueId> {
        match op {
            Op::Binary(op, a, b, _) => self.shadow_of_binary(*op, *a, *b, ty),
            Op::Unary(op, a, _) => self.shadow_of_unary(*op, *a, ty),
            Op::Compare(predicate, a, b) => self.shadow_of_comparison(*predicate, *a, *b, ty),
            Op::Convert(op, a, _) => self.shadow_of_conversion(*op, *a, ty),
            Op::Select {
                cond,
                then,
                otherwise,
            } => self.shadow_of_choice(*cond, *then, *otherwise, ty),
            Op::Math(_, operands, _) => self.collapse(operands, ty),
            Op::Construct(parts) => {
                let ty = self.shadow_type(ty)?;
                let parts: Option<Vec<ValueId>> = parts
                    .iter()
                    .map(|&part| self.shadow_or_zeros(part))
                    .collect();
                Some(self.emit(Op::Construct(parts?), ty))
            }
            Op::Extract(v, path) => {
                let ty = self.shadow_type(ty)?;
                let shadow = self.shadow(*v)?;
                Some(self.emit(Op::Extract(shadow, path.clone()), ty))
            }
            Op::Insert(v, part, path) => {
                let ty = self.shadow_type(ty)?;
                let shadow = self.shadow_or_zeros(*v)?;
                let part = self.shadow_or_zeros(*part)?;
                Some(self.emit(Op::Insert(shadow, part, path.clone()), ty))
            }
            Op::ExtractDynamic(v, index) => {
                let wanted = self.shadow_type(ty)?;
                let part = self
                    .shadow(*v)
                    .map(|shadow| self.emit(Op::ExtractDynamic(shadow, *index), wanted));
                let by_index = self.collapse(&[*index], ty);
                self.or(part, by_index)
            }
            Op::InsertDynamic(v, part, index) => {
                let wanted = self.shadow_type(ty)?;
                let shadow = self.shadow_or_zeros(*v)?;
                let part = self.shadow_or_zeros(*part)?;
                let made = self.emit(Op::InsertDynamic(shadow, part, *index), wanted);
                let by_index = self.collapse(&[*index], ty);
                self.or(Some(made), by_index)
            }
            Op::Shuffle(a, b, lanes) => self.shadow_of_shuffle(*a, *b, lanes, ty),
            Op::PtrOffset { ptr, index, .. } => {
                let of_pointer = self.shadow(*ptr);
                let index = index.map(|(index, _)| index);
                let of_index = index.and_then(|index| self.collapse(&[index], ty));
                self.or(of_pointer, of_index)
            }
            Op::GenericToExplicit(v, _) | Op::Copy(v) => self.shadow(*v),
            Op::GenericIs(v, _) => self.collapse(&[*v], ty),
            Op::Group(op, scope, operands) => self.shadow_of_group(*op, *scope, operands, ty),
            _ => None,
        }
    }

    fn shadow_of_binary(
        &mut self,
        op: BinaryOp,
        a: ValueId,
        b: ValueId,
        ty: TypeId,
    ) -> Option<ValueId> {
        use BinaryOp as B;
        let (sa, sb) = (self.shadow(a), self.shadow(b));
        match op {
            // A bit that is known to be 0 decides, and one that is known to be 1.
            B::And | B::Or => {
                let decides = |all: &mut Self, v: ValueId| match op {
                    B::And => v,
                    _ => all.not(v),
                };
                let by_a = sa.map(|sa| {
                    let mask = decides(self, b);
                    self.binary(B::And, sa, mask)
                });
                let by_b = sb.map(|sb| {
                    let mask = decides(self, a);
                    self.binary(B::And, sb, mask)
                });
                let both = sa.zip(sb).map(|(sa, sb)| self.binary(B::And, sa, sb));
                let one = self.or(by_a, by_b);
                self.or(one, both)
            }
            B::Xor
            | B::IAdd
            | B::ISub
            | B::SMin
            | B::SMax
            | B::UMin
            | B::UMax
            | B::LogicalEqual
            | B::LogicalNotEqual => self.or(sa, sb),
            B::IMul => {
                // A known power of two moves bits; a bit reaches all above it.
                let scaled = |all: &mut Self, shadow: Option<ValueId>, by: ValueId| {
                    let shadow = shadow?;
                    let factor = all.e.known_int(by).map(|n| n & n.wrapping_neg());
                    match factor.filter(|&n| n > 1) {
                        Some(factor) => {
                            let &Type::Int(bits) = all.e.ty(shadow) else {
                                return Some(shadow);
                            };
                            let factor = all.e.int(bits, factor);
                            Some(all.binary(B::IMul, shadow, factor))
                        }
                        None => Some(shadow),
                    }
                };
                let sa = scaled(self, sa, b);
                let sb = scaled(self, sb, a);
                let bits = self.or(sa, sb)?;
                let above = self.unary(UnaryOp::INeg, bits);
                Some(self.binary(B::Or, bits, above))
            }
            B::Shl | B::LShr | B::AShr | B::Rotate => {
                let moved = sa.map(|sa| self.binary(op, sa, b));
                let by_count = self.collapse(&[b], ty);
                self.or(moved, by_count)
            }
            _ => self.collapse(&[a, b], ty),
        }
    }

    fn shadow_of_unary(&mut self, op: UnaryOp, a: ValueId, ty: TypeId) -> Option<ValueId> {
        use UnaryOp as U;
        let shadow = self.shadow(a)?;
        Some(match op {
            U::Not | U::INeg | U::FNeg => shadow,
            U::BitReverse => self.unary(U::BitReverse, shadow),
            U::IsNan | U::IsInf | U::IsFinite | U::IsNormal | U::SignBit => {
                self.any_by_lane(shadow)
            }
            U::AnyLane | U::AllLanes => {
                // A component that is known decides: true for any, false for all.
                let known = self.not(shadow);
                let decides = match op {
                    U::AnyLane => a,
                    _ => self.not(a),
                };
                let decides = self.binary(BinaryOp::And, known, decides);
                let flag = self.e.types.bool();
                let any = Op::Unary(U::AnyLane, decides, Flags::default());
                let decided = self.emit(any, flag);
                let open = self.not(decided);
                let bad = self.any(shadow);
                self.binary(BinaryOp::And, bad, open)
            }
            U::PopCount | U::CountLeadingZeros | U::CountTrailingZeros | U::SAbs => {
                return self.collapse(&[a], ty);
            }
        })
    }

    fn shadow_of_comparison(
        &mut self,
        predicate: Predicate,
        a: ValueId,
        b: ValueId,
        ty: TypeId,
    ) -> Option<ValueId> {
        use Predicate as P;
        let scalar = self.e.types.scalar_of(self.e.f.ty(a))?;
        let &Type::Int(bits) = self.e.types.get(scalar) else {
            return self.collapse(&[a, b], ty);
        };
        let (sa, sb) = (self.shadow(a), self.shadow(b));
        match predicate {
            P::IEq | P::INe => {
                // Known bits that differ decide.
                let either = self.or(sa, sb)?;
                let bad = self.any_by_lane(either);
                let different = self.binary(BinaryOp::Xor, a, b);
                let known = self.not(either);
                let different = self.binary(BinaryOp::And, different, known);
                let zero = self.zeros(self.e.f.ty(different));
                let open = self.compare(P::IEq, different, zero);
                Some(self.binary(BinaryOp::And, bad, open))
            }
            P::ULt | P::ULe | P::UGt | P::UGe | P::SLt | P::SLe | P::SGt | P::SGe => {
                let signed = matches!(predicate, P::SLt | P::SLe | P::SGt | P::SGe);
                let sign = match signed {
                    true => 1u64 << (bits - 1),
                    false => 0,
                };
                sa.or(sb)?;
                let [low_a, high_a] = self.least_and_greatest(a, sa, sign);
                let [low_b, high_b] = self.least_and_greatest(b, sb, sign);
                // The comparison is open if the extremes disagree.
                let one = self.compare(predicate, low_a, high_b);
                let other = self.compare(predicate, high_a, low_b);
                Some(self.binary(BinaryOp::Xor, one, other))
            }
            _ => self.collapse(&[a, b], ty),
        }
    }

    /// The least and the greatest number that a value with this shadow may be. `sign`: the bit that makes numbers less.
    fn least_and_greatest(
        &mut self,
        v: ValueId,
        shadow: Option<ValueId>,
        sign: u64,
    ) -> [ValueId; 2] {
        let Some(shadow) = shadow else {
            return [v, v];
        };
        let known = self.not(shadow);
        let zeros = self.binary(BinaryOp::And, v, known);
        let ones = self.binary(BinaryOp::Or, v, shadow);
        if sign == 0 {
            return [zeros, ones];
        }
        let ty = self.e.f.ty(v);
        let sign = self.splat(ty, sign);
        let signs = self.binary(BinaryOp::And, shadow, sign);
        let least = self.binary(BinaryOp::Or, zeros, signs);
        let positive = self.not(signs);
        let greatest = self.binary(BinaryOp::And, ones, positive);
        [least, greatest]
    }

    /// An integer, or a vector of it.
    fn splat(&mut self, ty: TypeId, value: u64) -> ValueId {
        let id = match *self.e.types.get(ty) {
            Type::Vector(element, n) => {
                let one = self.e.constants.intern(element, Constant::Int(value));
                let parts = Constant::Composite(vec![one; n as usize]);
                self.e.constants.intern(ty, parts)
            }
            _ => self.e.constants.intern(ty, Constant::Int(value)),
        };
        self.e.constant(id)
    }

    fn shadow_of_conversion(&mut self, op: ConvertOp, a: ValueId, ty: TypeId) -> Option<ValueId> {
        use ConvertOp as C;
        let shadow = self.shadow(a)?;
        let wanted = self.shadow_type(ty)?;
        match op {
            C::Trunc | C::ZExt | C::SExt => {
                Some(self.emit(Op::Convert(op, shadow, Rounding::Default), wanted))
            }
            C::AddressSpace | C::Bitcast | C::PtrToInt | C::IntToPtr
                if self.e.f.ty(shadow) == wanted =>
            {
                Some(shadow)
            }
            C::Bitcast => Some(self.emit(Op::Convert(op, shadow, Rounding::Default), wanted)),
            _ => self.collapse(&[a], ty),
        }
    }

    fn shadow_of_choice(
        &mut self,
        cond: ValueId,
        then: ValueId,
        otherwise: ValueId,
        ty: TypeId,
    ) -> Option<ValueId> {
        let wanted = self.shadow_type(ty)?;
        let of_cond = self.shadow(cond);
        let of_parts = match (self.shadow(then), self.shadow(otherwise)) {
            (None, None) => None,
            (a, b) => {
                let zeros = self.zeros(wanted);
                Some(self.select(cond, a.unwrap_or(zeros), b.unwrap_or(zeros)))
            }
        };
        let Some(of_cond) = of_cond else {
            return of_parts;
        };
        // Bits that both choices have in common do not depend on the condition.
        let differ = match wanted == self.e.f.ty(then) {
            true => {
                let differ = self.binary(BinaryOp::Xor, then, otherwise);
                let (a, b) = (self.shadow(then), self.shadow(otherwise));
                let either = self.or(a, b);
                self.or(Some(differ), either)?
            }
            false => self.ones(wanted),
        };
        let zeros = self.zeros(wanted);
        let by_cond = self.select(of_cond, differ, zeros);
        self.or(of_parts, Some(by_cond))
    }

    fn shadow_of_shuffle(
        &mut self,
        a: ValueId,
        b: ValueId,
        lanes: &[u32],
        ty: TypeId,
    ) -> Option<ValueId> {
        let wanted = self.shadow_type(ty)?;
        let shadows = [self.shadow_or_zeros(a)?, self.shadow_or_zeros(b)?];
        let from: Vec<u32> = lanes
            .iter()
            .map(|&lane| if lane == u32::MAX { 0 } else { lane })
            .collect();
        let mut made = self.emit(Op::Shuffle(shadows[0], shadows[1], from), wanted);
        let element = self.e.types.scalar_of(wanted)?;
        let ones = self.ones(element);
        for (lane, _) in lanes
            .iter()
            .enumerate()
            .filter(|(_, from)| **from == u32::MAX)
        {
            made = self.emit(Op::Insert(made, ones, vec![lane as u32]), wanted);
        }
        Some(made)
    }

    fn shadow_of_group(
        &mut self,
        op: GroupOp,
        scope: GroupScope,
        operands: &[ValueId],
        ty: TypeId,
    ) -> Option<ValueId> {
        use GroupOp as G;
        let wanted = self.shadow_type(ty)?;
        match op {
            G::Elect | G::BlockWrite => None,
            G::BlockRead => {
                let ptr = *operands.first()?;
                let shadow = self.shadow_pointer(ptr)?;
                let read = self.emit(Op::Group(op, scope, vec![shadow]), wanted);
                Some(match self.is_inverted(ptr) {
                    true => self.not(read),
                    false => read,
                })
            }
            G::Reduce(_) | G::ClusteredReduce(..) | G::InclusiveScan(_) | G::ExclusiveScan(_) => {
                let shadow = self.shadow(*operands.first()?)?;
                let or = match self.is_bool(wanted) {
                    true => Reduction::LogicalOr,
                    false => Reduction::Or,
                };
                let op = match op {
                    G::Reduce(_) => G::Reduce(or),
                    G::ClusteredReduce(_, n) => G::ClusteredReduce(or, n),
                    G::InclusiveScan(_) => G::InclusiveScan(or),
                    _ => G::ExclusiveScan(or),
                };
                let all = self.emit(Op::Group(op, scope, vec![shadow]), wanted);
                let flag = self.any_by_lane(all);
                Some(self.spread(flag, wanted))
            }
            G::All | G::Any | G::AllEqual | G::Ballot => {
                let shadow = self.shadow(*operands.first()?)?;
                let flag = self.any(shadow);
                let op = match op {
                    G::Ballot => G::Ballot,
                    _ => G::Any,
                };
                Some(self.emit(Op::Group(op, scope, vec![flag]), wanted))
            }
            G::Broadcast
            | G::BroadcastFirst
            | G::Shuffle
            | G::ShuffleXor
            | G::ShuffleUp
            | G::ShuffleDown
            | G::Rotate(_) => {
                let mut operands = operands.to_vec();
                let value = operands.first_mut()?;
                *value = self.shadow(*value)?;
                Some(self.emit(Op::Group(op, scope, operands), wanted))
            }
            G::ShuffleUpPair | G::ShuffleDownPair => {
                let &[a, b, delta] = operands else {
                    return None;
                };
                let (a, b) = (self.shadow_or_zeros(a)?, self.shadow_or_zeros(b)?);
                Some(self.emit(Op::Group(op, scope, vec![a, b, delta]), wanted))
            }
        }
    }
}
