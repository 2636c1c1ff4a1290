//! Algebraic simplification of one operation: folds constants and applies identities (`x + 0`, `x & x`, a shuffle of a
//! shuffle).

use super::edit::Edit;
use super::fold::{self, Scalar};
use crate::ir::{BinaryOp, ConvertOp, Flags, Op, Predicate, Rounding, UnaryOp, ValueDef, ValueId};
use crate::types::{AddressSpace, ConstId, Constant, Type, TypeId};

/// Elements of a constant that is taken apart: a bound on compile time. No module of dpctl or dpnp and none of our corpora
/// has a constant to take apart (2026-11).
const MAX_CONSTANT_ELEMENTS: u64 = 1024;

/// The result of simplifying an operation.
pub(super) enum Outcome {
    /// It stays as it is.
    Keep,
    /// It is replaced by that value.
    Value(ValueId),
    /// It is replaced by that operation.
    Become(Op),
}

/// Simplifies `op` with a result of type `ty`. The values in the outcome dominate `op`.
pub(super) fn simplify(e: &mut Edit<'_>, op: &Op, ty: TypeId) -> Outcome {
    if let Some(c) = fold_op(e, op, ty) {
        return Outcome::Value(e.constant(c));
    }
    identities(e, op, ty).unwrap_or(Outcome::Keep)
}

impl Edit<'_> {
    fn scalar(&self, ty: TypeId) -> Option<Scalar> {
        Some(match self.types.get(self.types.scalar_of(ty)?) {
            Type::Bool => Scalar::Bool,
            Type::Int(b) => Scalar::Int(*b),
            Type::Float(b) => Scalar::Float(*b),
            _ => Scalar::Ptr,
        })
    }

    /// Zero of any type.
    pub(super) fn null(&mut self, ty: TypeId) -> ConstId {
        let value = match self.types.get(ty) {
            Type::Bool => Constant::Bool(false),
            Type::Int(_) => Constant::Int(0),
            Type::Float(_) => Constant::Float(0),
            _ => Constant::Null,
        };
        self.constants.intern(ty, value)
    }

    /// The bits of a scalar constant.
    fn scalar_bits(&self, id: ConstId) -> Option<u64> {
        match self.constants.get(id) {
            Constant::Null => Some(0),
            Constant::Bool(v) => Some(u64::from(*v)),
            Constant::Int(v) | Constant::Float(v) => Some(*v),
            _ => None,
        }
    }

    /// The bits of each lane of a scalar or vector constant.
    fn lanes(&self, v: ValueId) -> Option<Vec<u64>> {
        let id = self.const_of(v)?;
        let count = self.types.lane_count(self.constants.ty(id)) as usize;
        match self.constants.get(id) {
            _ if count == 0 => None,
            Constant::Null => Some(vec![0; count]),
            Constant::Composite(parts) => parts.iter().map(|p| self.scalar_bits(*p)).collect(),
            _ => Some(vec![self.scalar_bits(id)?]),
        }
    }

    /// The value of all lanes, if they are equal.
    fn splat(&self, v: ValueId) -> Option<u64> {
        let lanes = self.lanes(v)?;
        lanes.iter().all(|l| *l == lanes[0]).then_some(lanes[0])
    }

    fn constant_of(&mut self, ty: TypeId, lanes: &[u64]) -> Option<ConstId> {
        let scalar_ty = self.types.scalar_of(ty)?;
        let scalar = self.scalar(ty)?;
        if lanes.iter().all(|l| *l == 0) {
            return Some(self.null(ty));
        }
        let mut parts = Vec::with_capacity(lanes.len());
        for &lane in lanes {
            let value = match scalar {
                Scalar::Bool => Constant::Bool(lane != 0),
                Scalar::Int(_) => Constant::Int(lane & scalar.ones()),
                Scalar::Float(_) => Constant::Float(lane & scalar.ones()),
                Scalar::Ptr if lane == 0 => Constant::Null,
                Scalar::Ptr => return None,
            };
            parts.push(self.constants.intern(scalar_ty, value));
        }
        if ty == scalar_ty {
            return parts.first().copied();
        }
        Some(self.constants.intern(ty, Constant::Composite(parts)))
    }

    /// The elements of an aggregate or vector constant.
    fn parts(&mut self, id: ConstId) -> Option<Vec<ConstId>> {
        let ty = self.constants.ty(id);
        let count = match self.types.get(ty) {
            Type::Vector(_, n) => u64::from(*n),
            Type::Array(_, n) => *n,
            Type::Struct { fields, .. } => fields.len() as u64,
            _ => return None,
        };
        crate::reach!(MAX_CONSTANT_ELEMENTS, count);
        if count > MAX_CONSTANT_ELEMENTS {
            return None;
        }
        (0..count).map(|i| self.part(id, i)).collect()
    }

    fn part(&mut self, id: ConstId, index: u64) -> Option<ConstId> {
        let element = self.types.element(self.constants.ty(id), index)?;
        match self.constants.get(id) {
            Constant::Null => Some(self.null(element)),
            Constant::Undef => Some(self.constants.intern(element, Constant::Undef)),
            Constant::Composite(parts) => parts.get(index as usize).copied(),
            _ => None,
        }
    }

    /// Interns a composite in its canonical form: all zeros are `Null`.
    fn composite(&mut self, ty: TypeId, parts: Vec<ConstId>) -> ConstId {
        let constants = &*self.constants;
        let zero = |p: &ConstId| {
            matches!(
                constants.get(*p),
                Constant::Null | Constant::Int(0) | Constant::Float(0) | Constant::Bool(false)
            )
        };
        if !parts.is_empty() && parts.iter().all(zero) {
            return self.null(ty);
        }
        if !parts.is_empty() && parts.iter().all(|p| *constants.get(*p) == Constant::Undef) {
            return self.constants.intern(ty, Constant::Undef);
        }
        self.constants.intern(ty, Constant::Composite(parts))
    }

    fn replaced(&mut self, id: ConstId, part: ConstId, path: &[u32]) -> Option<ConstId> {
        let Some((&index, rest)) = path.split_first() else {
            return Some(part);
        };
        let inner = self.part(id, u64::from(index))?;
        let new = self.replaced(inner, part, rest)?;
        let mut parts = self.parts(id)?;
        *parts.get_mut(index as usize)? = new;
        let ty = self.constants.ty(id);
        Some(self.composite(ty, parts))
    }
}

fn each(
    e: &mut Edit<'_>,
    ty: TypeId,
    a: &[u64],
    mut f: impl FnMut(usize, u64) -> Option<u64>,
) -> Option<ConstId> {
    let lanes: Option<Vec<u64>> = a.iter().enumerate().map(|(i, v)| f(i, *v)).collect();
    e.constant_of(ty, &lanes?)
}

fn fold_op(e: &mut Edit<'_>, op: &Op, ty: TypeId) -> Option<ConstId> {
    match op {
        Op::Binary(op, a, b, _) => {
            let scalar = e.scalar(ty)?;
            let (a, b) = (e.lanes(*a)?, e.lanes(*b)?);
            each(e, ty, &a, |i, v| fold::binary(*op, scalar, v, *b.get(i)?))
        }
        Op::Unary(op, a, _) => {
            let scalar = e.scalar(e.f.ty(*a))?;
            let a = e.lanes(*a)?;
            match op {
                UnaryOp::AnyLane => e.constant_of(ty, &[u64::from(a.contains(&1))]),
                UnaryOp::AllLanes => e.constant_of(ty, &[u64::from(!a.contains(&0))]),
                _ => each(e, ty, &a, |_, v| fold::unary(*op, scalar, v)),
            }
        }
        Op::Compare(p, a, b) => {
            let scalar = e.scalar(e.f.ty(*a))?;
            let (a, b) = (e.lanes(*a)?, e.lanes(*b)?);
            each(e, ty, &a, |i, v| {
                fold::compare(*p, scalar, v, *b.get(i)?).map(u64::from)
            })
        }
        Op::Convert(op, a, rounding) => {
            let (from, to) = (e.scalar(e.f.ty(*a))?, e.scalar(ty)?);
            let lanes = e.lanes(*a)?;
            if *op == ConvertOp::Bitcast {
                return bitcast(e, ty, &lanes, from, to);
            }
            each(e, ty, &lanes, |_, v| {
                fold::convert(*op, from, to, *rounding, v)
            })
        }
        Op::Select {
            cond,
            then,
            otherwise,
        } => {
            let cond = e.lanes(*cond)?;
            if cond.len() == 1 {
                return None;
            }
            let (then, otherwise) = (e.const_of(*then)?, e.const_of(*otherwise)?);
            let (then, otherwise) = (e.parts(then)?, e.parts(otherwise)?);
            let parts = cond.iter().zip(then).zip(otherwise);
            let parts = parts.map(|((c, t), o)| if *c != 0 { t } else { o });
            let parts = parts.collect();
            Some(e.composite(ty, parts))
        }
        Op::Math(function, args, _) => {
            let Some(Scalar::Float(width)) = e.scalar(ty) else {
                return None;
            };
            let args: Option<Vec<Vec<u64>>> = args.iter().map(|a| e.lanes(*a)).collect();
            let args = args?;
            let first = args.first()?.clone();
            each(e, ty, &first, |i, _| {
                let lane: Option<Vec<u64>> = args.iter().map(|a| a.get(i).copied()).collect();
                fold::math(*function, width, &lane?)
            })
        }
        Op::Construct(values) => {
            let is_vector = matches!(e.types.get(ty), Type::Vector(..));
            let mut parts = Vec::new();
            for &v in values {
                let id = e.const_of(v)?;
                if is_vector && e.types.lane_count(e.f.ty(v)) > 1 {
                    parts.extend(e.parts(id)?);
                } else {
                    parts.push(id);
                }
            }
            Some(e.composite(ty, parts))
        }
        Op::Extract(a, path) => {
            let mut id = e.const_of(*a)?;
            for &index in path {
                id = e.part(id, u64::from(index))?;
            }
            Some(id)
        }
        Op::Insert(a, part, path) => {
            let (a, part) = (e.const_of(*a)?, e.const_of(*part)?);
            e.replaced(a, part, path)
        }
        Op::Shuffle(a, b, lanes) => {
            let (a, b) = (e.const_of(*a)?, e.const_of(*b)?);
            let mut all = e.parts(a)?;
            all.extend(e.parts(b)?);
            let element = e.types.scalar_of(ty)?;
            let undef = e.constants.intern(element, Constant::Undef);
            let parts = lanes
                .iter()
                .map(|&l| all.get(l as usize).copied().unwrap_or(undef))
                .collect();
            Some(e.composite(ty, parts))
        }
        _ => None,
    }
}

/// Concatenates the lanes' bits and splits them at the new width.
fn bitcast(
    e: &mut Edit<'_>,
    ty: TypeId,
    lanes: &[u64],
    from: Scalar,
    to: Scalar,
) -> Option<ConstId> {
    let (width, new) = (from.bits() as usize / 8, to.bits() as usize / 8);
    if width == 0 || new == 0 {
        return None;
    }
    let bytes: Vec<u8> = lanes
        .iter()
        .flat_map(|l| l.to_le_bytes()[..width].to_vec())
        .collect();
    let lanes: Vec<u64> = bytes
        .chunks(new)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        })
        .collect();
    e.constant_of(ty, &lanes)
}

fn identities(e: &mut Edit<'_>, op: &Op, ty: TypeId) -> Option<Outcome> {
    match op {
        Op::Binary(op, a, b, flags) => binary(e, *op, *a, *b, *flags, ty),
        Op::Unary(op, a, _) => unary(e, *op, *a),
        Op::Compare(p, a, b) => compare(e, *p, *a, *b, ty),
        Op::Convert(op, a, rounding) => convert(e, *op, *a, *rounding, ty),
        Op::Select {
            cond,
            then,
            otherwise,
        } => select(e, *cond, *then, *otherwise),
        Op::Phi(incoming) => {
            let first = incoming.first()?.1;
            let same = incoming.iter().all(|(_, v)| *v == first);
            // The first input is not the phi itself: a phi of only itself has no input.
            let fixed = !matches!(e.f.values[first.index()].def, ValueDef::Inst(_));
            (same && (fixed || incoming.len() == 1)).then_some(Outcome::Value(first))
        }
        Op::Construct(parts) => construct(e, parts, ty),
        Op::Extract(a, path) => extract(e, *a, path),
        Op::Insert(a, part, path) => match e.def(*a)? {
            Op::Insert(base, _, inner) if inner == path => {
                Some(Outcome::Become(Op::Insert(*base, *part, path.clone())))
            }
            _ => None,
        },
        Op::ExtractDynamic(a, index) => {
            let index = e.known_int(*index)?;
            let count = u64::from(e.types.lane_count(e.f.ty(*a)));
            (index < count).then(|| Outcome::Become(Op::Extract(*a, vec![index as u32])))
        }
        Op::InsertDynamic(a, part, index) => {
            let index = e.known_int(*index)?;
            let count = u64::from(e.types.lane_count(e.f.ty(*a)));
            (index < count).then(|| Outcome::Become(Op::Insert(*a, *part, vec![index as u32])))
        }
        Op::Shuffle(a, _, lanes) => {
            let identity = lanes
                .iter()
                .enumerate()
                .all(|(i, l)| *l == i as u32 || *l == u32::MAX);
            (identity && e.f.ty(*a) == ty).then_some(Outcome::Value(*a))
        }
        Op::PtrOffset { ptr, index, offset } => ptr_offset(e, *ptr, *index, *offset),
        Op::GenericToExplicit(a, space) => {
            let (known, source) = known_space(e, *a)?;
            if known != *space {
                let null = e.null(ty);
                return Some(Outcome::Value(e.constant(null)));
            }
            (e.f.ty(source) == ty).then_some(Outcome::Value(source))
        }
        Op::GenericIs(a, space) => {
            let (known, _) = known_space(e, *a)?;
            let truth = Constant::Bool(known == *space);
            let id = e.constants.intern(ty, truth);
            Some(Outcome::Value(e.constant(id)))
        }
        _ => None,
    }
}

/// The space that `v` is known to point into, and a pointer of that space.
pub(super) fn known_space(e: &Edit<'_>, v: ValueId) -> Option<(AddressSpace, ValueId)> {
    if let Type::Ptr(space) = *e.ty(v)
        && space != AddressSpace::Generic
    {
        return Some((space, v));
    }
    let Some(Op::Convert(ConvertOp::AddressSpace, source, _)) = e.def(v) else {
        return None;
    };
    match *e.ty(*source) {
        Type::Ptr(space) if space != AddressSpace::Generic => Some((space, *source)),
        _ => None,
    }
}

fn commutes(op: BinaryOp) -> bool {
    use BinaryOp as B;
    matches!(
        op,
        B::IAdd
            | B::IMul
            | B::And
            | B::Or
            | B::Xor
            | B::FAdd
            | B::FMul
            | B::SMin
            | B::SMax
            | B::UMin
            | B::UMax
            | B::SMulHi
            | B::UMulHi
            | B::SAddSat
            | B::UAddSat
            | B::LogicalEqual
            | B::LogicalNotEqual
    )
}

fn binary(
    e: &mut Edit<'_>,
    op: BinaryOp,
    a: ValueId,
    b: ValueId,
    flags: Flags,
    ty: TypeId,
) -> Option<Outcome> {
    use BinaryOp as B;
    use Outcome::{Become, Value};
    if commutes(op) && e.const_of(a).is_some() && e.const_of(b).is_none() {
        return Some(Become(Op::Binary(op, b, a, flags)));
    }
    let scalar = e.scalar(ty)?;
    if matches!(scalar, Scalar::Float(_) | Scalar::Ptr) {
        return None;
    }
    let ones = scalar.ones();
    let zero = |e: &mut Edit<'_>| {
        let id = e.null(ty);
        Some(Value(e.constant(id)))
    };
    if a == b {
        match op {
            B::And | B::Or | B::SMin | B::SMax | B::UMin | B::UMax => return Some(Value(a)),
            B::ISub | B::Xor | B::USubSat | B::SSubSat | B::LogicalNotEqual => return zero(e),
            _ => {}
        }
    }
    if e.splat(a) == Some(0) && matches!(op, B::Shl | B::LShr | B::AShr | B::Rotate) {
        return Some(Value(a));
    }
    let known = e.splat(b)?;
    match (op, known) {
        (
            B::IAdd
            | B::ISub
            | B::Or
            | B::Xor
            | B::Shl
            | B::LShr
            | B::AShr
            | B::Rotate
            | B::UAddSat
            | B::SAddSat
            | B::USubSat
            | B::SSubSat
            | B::LogicalNotEqual
            | B::UMax,
            0,
        )
        | (B::LogicalEqual, 1) => Some(Value(a)),
        (B::IMul | B::And | B::UMin, 0) => Some(Value(b)),
        (B::And | B::UMin, n) if n == ones => Some(Value(a)),
        (B::Or | B::UMax, n) if n == ones => Some(Value(b)),
        (B::IMul | B::UDiv | B::SDiv, 1) => Some(Value(a)),
        (B::URem | B::SRem | B::SMod, 1) => zero(e),
        (B::Xor, n) if n == ones => Some(Become(Op::Unary(UnaryOp::Not, a, Flags::default()))),
        (B::LogicalEqual, 0) | (B::LogicalNotEqual, 1) => {
            Some(Become(Op::Unary(UnaryOp::Not, a, Flags::default())))
        }
        (B::ISub, n) => {
            let lanes = e.types.lane_count(ty) as usize;
            let minus = e.constant_of(ty, &vec![n.wrapping_neg() & ones; lanes])?;
            let minus = e.constant(minus);
            Some(Become(Op::Binary(B::IAdd, a, minus, Flags::default())))
        }
        (B::IAdd, n) => {
            let Op::Binary(B::IAdd, inner, c, _) = *e.def(a)? else {
                return None;
            };
            let sum = e.splat(c)?.wrapping_add(n) & ones;
            let lanes = e.types.lane_count(ty) as usize;
            let sum = e.constant_of(ty, &vec![sum; lanes])?;
            let sum = e.constant(sum);
            Some(Become(Op::Binary(B::IAdd, inner, sum, Flags::default())))
        }
        _ => None,
    }
}

fn unary(e: &Edit<'_>, op: UnaryOp, a: ValueId) -> Option<Outcome> {
    match (op, e.def(a)?) {
        (UnaryOp::Not, Op::Unary(UnaryOp::Not, inner, _))
        | (UnaryOp::FNeg, Op::Unary(UnaryOp::FNeg, inner, _))
        | (UnaryOp::INeg, Op::Unary(UnaryOp::INeg, inner, _)) => Some(Outcome::Value(*inner)),
        (UnaryOp::Not, Op::Compare(p, x, y)) => {
            Some(Outcome::Become(Op::Compare(p.inverse(), *x, *y)))
        }
        _ => None,
    }
}

fn truth(e: &mut Edit<'_>, ty: TypeId, v: bool) -> Option<Outcome> {
    let lanes = e.types.lane_count(ty) as usize;
    let id = e.constant_of(ty, &vec![u64::from(v); lanes])?;
    Some(Outcome::Value(e.constant(id)))
}

fn compare(e: &mut Edit<'_>, p: Predicate, a: ValueId, b: ValueId, ty: TypeId) -> Option<Outcome> {
    use Predicate as P;
    if e.const_of(a).is_some() && e.const_of(b).is_none() {
        return Some(Outcome::Become(Op::Compare(p.swapped(), b, a)));
    }
    let scalar = e.scalar(e.f.ty(a))?;
    let is_float = matches!(scalar, Scalar::Float(_));
    if a == b && !is_float {
        let holds = matches!(p, P::IEq | P::ULe | P::UGe | P::SLe | P::SGe);
        return truth(e, ty, holds);
    }
    if is_float || e.types.lane_count(ty) != 1 {
        return None;
    }
    let known = e.splat(b)?;
    match (p, known) {
        (P::ULt, 0) => return truth(e, ty, false),
        (P::UGe, 0) => return truth(e, ty, true),
        (P::UGt, 0) => return Some(Outcome::Become(Op::Compare(P::INe, a, b))),
        (P::ULe, 0) | (P::ULt, 1) => {
            let zero = e.null(e.f.ty(a));
            let zero = e.constant(zero);
            return Some(Outcome::Become(Op::Compare(P::IEq, a, zero)));
        }
        _ => {}
    }
    // A select of two constants compared with a constant is the condition or its negation.
    let Op::Select {
        cond,
        then,
        otherwise,
    } = *e.def(a)?
    else {
        return match e.def(a)? {
            // Extension preserves equality with constants that fit the narrow type.
            Op::Convert(ConvertOp::ZExt, inner, _) if matches!(p, P::IEq | P::INe) => {
                let (inner, narrow) = (*inner, e.f.ty(*inner));
                let ones = e.scalar(narrow)?.ones();
                if known > ones {
                    return truth(e, ty, p == P::INe);
                }
                let id = e.constant_of(narrow, &[known])?;
                let c = e.constant(id);
                Some(Outcome::Become(Op::Compare(p, inner, c)))
            }
            _ => None,
        };
    };
    let then = fold::compare(p, scalar, e.splat(then)?, known)?;
    let otherwise = fold::compare(p, scalar, e.splat(otherwise)?, known)?;
    match (then, otherwise) {
        (true, false) => Some(Outcome::Value(cond)),
        (false, true) => Some(Outcome::Become(Op::Unary(
            UnaryOp::Not,
            cond,
            Flags::default(),
        ))),
        (same, _) => truth(e, ty, same),
    }
}

fn convert(
    e: &mut Edit<'_>,
    op: ConvertOp,
    a: ValueId,
    rounding: Rounding,
    ty: TypeId,
) -> Option<Outcome> {
    use ConvertOp as C;
    let again = |op, v| Outcome::Become(Op::Convert(op, v, Rounding::Default));
    if matches!(op, C::Bitcast | C::AddressSpace | C::FToF) && e.f.ty(a) == ty {
        // A conversion to the same float type could only quiet a NaN.
        return (op != C::FToF || rounding == Rounding::Default).then_some(Outcome::Value(a));
    }
    let Op::Convert(inner_op, inner, _) = *e.def(a)? else {
        return None;
    };
    let inner_ty = e.f.ty(inner);
    match (op, inner_op) {
        (C::Bitcast, C::Bitcast) | (C::AddressSpace, C::AddressSpace) if inner_ty == ty => {
            Some(Outcome::Value(inner))
        }
        (C::Bitcast, C::Bitcast)
        | (C::ZExt, C::ZExt)
        | (C::SExt, C::SExt)
        | (C::Trunc, C::Trunc) => Some(again(op, inner)),
        (C::SExt, C::ZExt) => Some(again(C::ZExt, inner)),
        (C::AddressSpace, C::AddressSpace) => Some(again(op, inner)),
        (C::Trunc, C::ZExt | C::SExt) => {
            let (from, to) = (e.scalar(inner_ty)?.bits(), e.scalar(ty)?.bits());
            Some(match from.cmp(&to) {
                std::cmp::Ordering::Equal => Outcome::Value(inner),
                std::cmp::Ordering::Less => again(inner_op, inner),
                std::cmp::Ordering::Greater => again(C::Trunc, inner),
            })
        }
        // The intermediate integer must be wide enough for all bits.
        (C::PtrToInt, C::IntToPtr) | (C::IntToPtr, C::PtrToInt)
            if e.scalar(e.f.ty(a))?.bits() == 64 =>
        {
            if inner_ty == ty {
                Some(Outcome::Value(inner))
            } else if op == C::IntToPtr {
                Some(again(C::AddressSpace, inner))
            } else {
                None
            }
        }
        _ => None,
    }
}

fn select(e: &mut Edit<'_>, cond: ValueId, then: ValueId, otherwise: ValueId) -> Option<Outcome> {
    if then == otherwise {
        return Some(Outcome::Value(then));
    }
    match e.splat(cond) {
        Some(0) => return Some(Outcome::Value(otherwise)),
        Some(_) => return Some(Outcome::Value(then)),
        None => {}
    }
    if let Some(Op::Unary(UnaryOp::Not, inner, _)) = e.def(cond) {
        return Some(Outcome::Become(Op::Select {
            cond: *inner,
            then: otherwise,
            otherwise: then,
        }));
    }
    if e.f.ty(then) != e.f.ty(cond) {
        return None;
    }
    match (e.splat(then)?, e.splat(otherwise)?) {
        (1, 0) => Some(Outcome::Value(cond)),
        (0, 1) => Some(Outcome::Become(Op::Unary(
            UnaryOp::Not,
            cond,
            Flags::default(),
        ))),
        _ => None,
    }
}

fn construct(e: &Edit<'_>, parts: &[ValueId], ty: TypeId) -> Option<Outcome> {
    let mut whole = None;
    for (i, &part) in parts.iter().enumerate() {
        let Op::Extract(from, path) = e.def(part)? else {
            return None;
        };
        if path[..] != [i as u32] || *whole.get_or_insert(*from) != *from {
            return None;
        }
    }
    // There are as many parts as elements, since the types are equal.
    let whole = whole.filter(|w| e.f.ty(*w) == ty)?;
    Some(Outcome::Value(whole))
}

fn extract(e: &mut Edit<'_>, a: ValueId, path: &[u32]) -> Option<Outcome> {
    let again = |v: ValueId, path: &[u32]| {
        Some(if path.is_empty() {
            Outcome::Value(v)
        } else {
            Outcome::Become(Op::Extract(v, path.to_vec()))
        })
    };
    let (&index, rest) = path.split_first()?;
    match e.def(a)? {
        Op::Construct(parts) if matches!(e.ty(a), Type::Vector(..)) => {
            let mut before = 0;
            for &part in parts {
                let lanes = e.types.lane_count(e.f.ty(part));
                if index < before + lanes {
                    return if lanes == 1 {
                        Some(Outcome::Value(part))
                    } else {
                        again(part, &[index - before])
                    };
                }
                before += lanes;
            }
            None
        }
        Op::Construct(parts) => again(*parts.get(index as usize)?, rest),
        Op::Insert(base, part, inner) => {
            let common = inner.iter().zip(path).take_while(|(x, y)| x == y).count();
            if common == inner.len() {
                again(*part, &path[common..])
            } else if common < path.len() {
                again(*base, path)
            } else {
                None
            }
        }
        Op::Extract(base, inner) => {
            let mut whole = inner.clone();
            whole.extend_from_slice(path);
            Some(Outcome::Become(Op::Extract(*base, whole)))
        }
        Op::Shuffle(x, y, lanes) => {
            let lane = *lanes.get(index as usize)?;
            let count = e.types.lane_count(e.f.ty(*x));
            if lane == u32::MAX {
                let ty = e.types.scalar_of(e.f.ty(a))?;
                Some(Outcome::Value(e.undef(ty)))
            } else if lane < count {
                again(*x, &[lane])
            } else {
                again(*y, &[lane - count])
            }
        }
        _ => None,
    }
}

fn ptr_offset(
    e: &mut Edit<'_>,
    ptr: ValueId,
    index: Option<(ValueId, i64)>,
    offset: i64,
) -> Option<Outcome> {
    let again = |ptr, index, offset| Some(Outcome::Become(Op::PtrOffset { ptr, index, offset }));
    // Addresses are computed modulo 2^64, so constant offsets can be reassociated.
    if let Some((v, stride)) = index {
        if let Some(n) = e.known_int(v) {
            let more = n.cast_signed().wrapping_mul(stride);
            return again(ptr, None, offset.wrapping_add(more));
        }
        if stride == 0 {
            return again(ptr, None, offset);
        }
        if let Some(Op::Binary(BinaryOp::IAdd, inner, c, _)) = e.def(v)
            && let Some(n) = e.known_int(*c)
        {
            let more = n.cast_signed().wrapping_mul(stride);
            return again(ptr, Some((*inner, stride)), offset.wrapping_add(more));
        }
    } else if offset == 0 {
        return Some(Outcome::Value(ptr));
    }
    let Op::PtrOffset {
        ptr: base,
        index: inner,
        offset: more,
    } = *e.def(ptr)?
    else {
        return None;
    };
    match (inner, index) {
        (None, index) | (index, None) => again(base, index, offset.wrapping_add(more)),
        _ => None,
    }
}
