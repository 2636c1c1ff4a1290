//! Validation of instructions: types of operands and result.

use crate::ir::{
    AtomicOp, BinaryOp, Builtin, CheckOp, ConvertOp, Function, GroupOp, Inst, MathFn, Module, Op,
    Predicate, Reduction, Scope, Touch, UnaryOp, ValueId,
};
use crate::types::{AddressSpace, Type, TypeId};

/// An error is the text of the broken rule.
type Result<T = (), E = String> = std::result::Result<T, E>;

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int(u8),
    Float(u8),
    Ptr(AddressSpace),
}

/// A scalar or vector.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    kind: Kind,
    lanes: u32,
}

impl Shape {
    fn is_int(self) -> bool {
        matches!(self.kind, Kind::Int(_))
    }
    fn is_float(self) -> bool {
        matches!(self.kind, Kind::Float(_))
    }
    fn is_bool(self) -> bool {
        self.kind == Kind::Bool
    }
    fn is_ptr(self) -> bool {
        matches!(self.kind, Kind::Ptr(_))
    }
    fn bits(self) -> u32 {
        match self.kind {
            Kind::Bool => 1,
            Kind::Int(b) | Kind::Float(b) => u32::from(b),
            Kind::Ptr(_) => 64,
        }
    }
    fn scalar(kind: Kind) -> Self {
        Self { kind, lanes: 1 }
    }
}

struct Checker<'m> {
    m: &'m Module,
    f: &'m Function,
}

fn ensure(condition: bool, rule: &str) -> Result {
    if condition {
        Ok(())
    } else {
        Err(rule.to_owned())
    }
}

fn alignment(align: u64) -> Result {
    if align.is_power_of_two() {
        Ok(())
    } else {
        Err(format!("alignment {align} is no power of two"))
    }
}

/// Checks operands and result of `inst`, whose operands exist.
pub(super) fn check(m: &Module, f: &Function, inst: &Inst) -> Result {
    let c = Checker { m, f };
    let result = inst.result.map(|r| f.ty(r));
    let must = || result.ok_or_else(|| "it has no result".to_owned());
    match &inst.op {
        Op::Phi(incoming) => {
            let ty = must()?;
            ensure(
                incoming.iter().all(|(_, v)| f.ty(*v) == ty),
                "a phi's inputs are not of its type",
            )
        }
        Op::Binary(op, a, b, _) => c.binary(*op, *a, *b, must()?),
        Op::Unary(op, a, _) => c.unary(*op, *a, must()?),
        Op::Compare(p, a, b) => c.compare(*p, *a, *b, must()?),
        Op::Convert(op, a, _) => c.convert(*op, *a, must()?),
        Op::Select {
            cond,
            then,
            otherwise,
        } => {
            let ty = must()?;
            ensure(
                f.ty(*then) == ty && f.ty(*otherwise) == ty,
                "the choices are not of the result's type",
            )?;
            let cond = c.shape(*cond)?;
            ensure(
                cond.is_bool() && (cond.lanes == 1 || cond.lanes == m.types.lane_count(ty)),
                "the condition is no bool or bool vector as long as the result",
            )
        }
        Op::Math(function, args, _) => c.math(*function, args, must()?),
        Op::Construct(parts) => c.construct(parts, must()?),
        Op::Extract(a, path) => {
            let ty = c.at_path(f.ty(*a), path)?;
            ensure(ty == must()?, "the part is not of the result's type")
        }
        Op::Insert(a, part, path) => {
            ensure(f.ty(*a) == must()?, "the result is of another type")?;
            let ty = c.at_path(f.ty(*a), path)?;
            ensure(ty == f.ty(*part), "the part does not fit its place")
        }
        Op::ExtractDynamic(a, index) => {
            ensure(c.scalar(*index)?.is_int(), "the index is no integer")?;
            ensure(
                c.element(f.ty(*a))? == must()?,
                "the element is not of the result's type",
            )
        }
        Op::InsertDynamic(a, part, index) => {
            ensure(c.scalar(*index)?.is_int(), "the index is no integer")?;
            ensure(f.ty(*a) == must()?, "the result is of another type")?;
            ensure(
                c.element(f.ty(*a))? == f.ty(*part),
                "the element does not fit",
            )
        }
        Op::Shuffle(a, b, lanes) => {
            let (a, b, r) = (c.shape(*a)?, c.shape(*b)?, c.of(must()?)?);
            ensure(
                a.kind == b.kind && a.kind == r.kind,
                "elements of several types",
            )?;
            ensure(r.lanes as usize == lanes.len(), "as many lanes as results")?;
            let count = a.lanes + b.lanes;
            ensure(
                lanes.iter().all(|&l| l < count || l == u32::MAX),
                "a lane number is too large",
            )
        }
        Op::Alloca { align, .. } => {
            alignment(*align)?;
            let r = c.of(must()?)?;
            ensure(
                r == Shape::scalar(Kind::Ptr(AddressSpace::Private)),
                "the result is no private pointer",
            )
        }
        Op::Load { ptr, align, .. } => {
            alignment(*align)?;
            c.pointer(*ptr)?;
            ensure(*m.types.get(must()?) != Type::Void, "a load of void")
        }
        Op::Store { ptr, align, .. } => {
            alignment(*align)?;
            c.pointer(*ptr)?;
            ensure(result.is_none(), "a store has no result")
        }
        Op::CopyMemory {
            dst,
            src,
            size,
            align,
        } => {
            alignment(*align)?;
            c.pointer(*dst)?;
            c.pointer(*src)?;
            ensure(
                c.shape(*size)? == Shape::scalar(Kind::Int(64)) && result.is_none(),
                "the size is no i64, or there is a result",
            )
        }
        Op::PtrOffset { ptr, index, .. } => {
            c.pointer(*ptr)?;
            if let Some((index, _)) = index {
                ensure(
                    c.shape(*index)? == Shape::scalar(Kind::Int(64)),
                    "the index is no i64",
                )?;
            }
            ensure(f.ty(*ptr) == must()?, "the result is of another type")
        }
        Op::GenericToExplicit(a, space) => {
            c.pointer(*a)?;
            let r = c.of(must()?)?;
            ensure(
                r == Shape::scalar(Kind::Ptr(*space)),
                "the result is no pointer of that space",
            )
        }
        Op::GenericIs(a, _) => {
            c.pointer(*a)?;
            ensure(*m.types.get(must()?) == Type::Bool, "the result is no bool")
        }
        Op::Atomic {
            op,
            ptr,
            value,
            comparator,
            ..
        } => c.atomic(*op, *ptr, *value, *comparator, result),
        Op::Fence(..) => ensure(result.is_none(), "a fence has no result"),
        Op::Barrier(scope) => {
            ensure(
                matches!(scope, Scope::Workgroup | Scope::Subgroup),
                "a barrier of another scope than work-group or sub-group",
            )?;
            ensure(result.is_none(), "a barrier has no result")
        }
        Op::WorkItem(builtin, dimension) => {
            let r = c.of(must()?)?;
            ensure(*dimension < 3, "a dimension above 2")?;
            let bits = if (*builtin as u32) < Builtin::WorkDim as u32 {
                64
            } else {
                32
            };
            ensure(
                r == Shape::scalar(Kind::Int(bits)),
                "the result is not of the builtin's type",
            )
        }
        Op::Group(op, _, args) => c.group(*op, args, result),
        Op::Call(callee, args) => {
            let Some(callee) = m.functions.get(callee.index()) else {
                return Err(format!("there is no function {}", callee.0));
            };
            ensure(
                callee.params.len() == args.len(),
                "another number of arguments than parameters",
            )?;
            for (&param, &arg) in callee.params.iter().zip(args) {
                let ty = callee.values.get(param.index()).map(|v| v.ty);
                ensure(
                    ty == Some(f.ty(arg)),
                    "an argument is not of its parameter's type",
                )?;
            }
            let wanted = callee.result.filter(|r| *m.types.get(*r) != Type::Void);
            ensure(result == wanted, "the result is not of the callee's type")
        }
        Op::CallIndirect(callee, _) => c.pointer(*callee).map(drop),
        Op::Printf(format, _) => {
            ensure(
                (*format as usize) < m.printf_formats.len(),
                "there is no such format",
            )?;
            match result {
                Some(ty) => ensure(*m.types.get(ty) == Type::Int(32), "the result is no i32"),
                None => Ok(()),
            }
        }
        Op::Clock => ensure(
            *m.types.get(must()?) == Type::Int(64),
            "the result is no i64",
        ),
        Op::Trap(args) => trap(&c, args),
        Op::Check(op, args) => kernel_check(&c, *op, args, result),
        Op::Assume(a) => ensure(c.scalar(*a)?.is_bool(), "the operand is no bool"),
        Op::Copy(a) => ensure(f.ty(*a) == must()?, "the result is of another type"),
    }
}

/// The operands and result of an operation of `solum check`.
fn kernel_check(c: &Checker<'_>, op: CheckOp, args: &[ValueId], result: Option<TypeId>) -> Result {
    let integer = |v: ValueId, bits: u8| {
        ensure(
            c.scalar(v)?.kind == Kind::Int(bits),
            "an operand of a check is not of its integer type",
        )
    };
    let flag = |v: ValueId| {
        ensure(
            c.scalar(v)?.is_bool(),
            "the condition of a check is no bool",
        )
    };
    if matches!(op, CheckOp::ArgumentShadow(_) | CheckOp::AllocationShadow) {
        let is_pointer = result.is_some_and(|ty| matches!(c.m.types.get(ty), Type::Ptr(_)));
        ensure(is_pointer, "the result of a check is no pointer")?;
    } else if op.is_pure() {
        let is_word = result.is_some_and(|ty| *c.m.types.get(ty) == Type::Int(64));
        ensure(is_word, "the result of a check is no i64")?;
    } else {
        ensure(result.is_none(), "a check has no result")?;
    }
    match (op, args) {
        (
            CheckOp::ArgumentStart(_)
            | CheckOp::ArgumentSize(_)
            | CheckOp::ArgumentShadow(_)
            | CheckOp::Unseen,
            [],
        ) => Ok(()),
        (CheckOp::AllocationStart | CheckOp::AllocationSize, &[ptr]) => c.pointer(ptr).map(drop),
        (CheckOp::AllocationShadow, &[ptr]) => ensure(
            result == Some(c.f.ty(ptr)),
            "a shadow is not of its pointer's type",
        ),
        (CheckOp::Uninitialised(..), &[bad, address, shadow, source]) => {
            let word = |v: ValueId| c.pointer(v).map(drop).or_else(|_| integer(v, 64));
            flag(bad)?;
            word(address)?;
            word(shadow)?;
            integer(source, 32)
        }
        (CheckOp::Bounds(..) | CheckOp::Alignment(..), &[outside, ptr, start]) => {
            flag(outside)?;
            c.pointer(ptr)?;
            integer(start, 64)
        }
        (CheckOp::VariableBounds(..) | CheckOp::Value(_), &[wrong, a, b]) => {
            flag(wrong)?;
            integer(a, 64)?;
            integer(b, 64)
        }
        (CheckOp::Access(..) | CheckOp::ArgumentRead(..), &[ptr, epoch]) => {
            c.pointer(ptr)?;
            integer(epoch, 32)
        }
        (CheckOp::Access(Touch::Write, _), &[ptr, epoch, value]) => {
            c.pointer(ptr)?;
            integer(epoch, 32)?;
            integer(value, 64)
        }
        (
            CheckOp::Fence(..) | CheckOp::Arrive | CheckOp::ArriveSubGroup | CheckOp::Leave,
            &[epoch],
        ) => integer(epoch, 32),
        (CheckOp::Arrive | CheckOp::ArriveSubGroup | CheckOp::Agree, &[epoch, value]) => {
            integer(epoch, 32)?;
            integer(value, 64)
        }
        _ => Err("another number of operands than the check has".into()),
    }
}

/// The operands of a trap: ids, and for an assertion texts and line.
fn trap(c: &Checker<'_>, args: &[ValueId]) -> Result {
    ensure(
        [3, crate::abi::ASSERTION_WORDS].contains(&args.len()),
        "a trap has 3 operands, an assertion 10",
    )?;
    for (i, &arg) in args.iter().enumerate() {
        if matches!(i, 6 | 7 | 9) {
            c.pointer(arg).map(drop)?;
        } else {
            ensure(
                c.scalar(arg)?.kind == Kind::Int(64),
                "an id or a line is no i64",
            )?;
        }
    }
    Ok(())
}

impl Checker<'_> {
    fn of(&self, ty: TypeId) -> Result<Shape> {
        let types = &self.m.types;
        let Some(scalar) = types.scalar_of(ty) else {
            return Err("neither scalar nor vector".into());
        };
        let kind = match types.get(scalar) {
            Type::Int(b) => Kind::Int(*b),
            Type::Float(b) => Kind::Float(*b),
            Type::Ptr(space) => Kind::Ptr(*space),
            _ => Kind::Bool,
        };
        Ok(Shape {
            kind,
            lanes: types.lane_count(ty),
        })
    }
    fn shape(&self, v: ValueId) -> Result<Shape> {
        self.of(self.f.ty(v))
    }
    fn scalar(&self, v: ValueId) -> Result<Shape> {
        let shape = self.shape(v)?;
        ensure(shape.lanes == 1, "a vector where a scalar is needed")?;
        Ok(shape)
    }
    fn pointer(&self, v: ValueId) -> Result<AddressSpace> {
        match self.m.types.get(self.f.ty(v)) {
            Type::Ptr(space) => Ok(*space),
            _ => Err(format!("value {} is no pointer", v.0)),
        }
    }
    fn element(&self, ty: TypeId) -> Result<TypeId> {
        match self.m.types.get(ty) {
            Type::Vector(element, _) => Ok(*element),
            _ => Err("no vector".into()),
        }
    }
    fn at_path(&self, mut ty: TypeId, path: &[u32]) -> Result<TypeId> {
        ensure(!path.is_empty(), "an empty path")?;
        for &index in path {
            ty = self
                .m
                .types
                .element(ty, u64::from(index))
                .ok_or_else(|| format!("there is no element {index}"))?;
        }
        Ok(ty)
    }

    fn binary(&self, op: BinaryOp, a: ValueId, b: ValueId, result: TypeId) -> Result {
        use BinaryOp as B;
        let (ta, tb) = (self.f.ty(a), self.f.ty(b));
        ensure(
            ta == tb && ta == result,
            "operands and result are not of one type",
        )?;
        let s = self.of(result)?;
        match op {
            B::FAdd | B::FSub | B::FMul | B::FDiv | B::FRem | B::FMod => {
                ensure(s.is_float(), "float arithmetic on another type")
            }
            B::And | B::Or | B::Xor => ensure(
                s.is_int() || s.is_bool(),
                "bit arithmetic on another type than integer or bool",
            ),
            B::LogicalEqual | B::LogicalNotEqual => {
                ensure(s.is_bool(), "a logical operation on another type")
            }
            _ => ensure(s.is_int(), "integer arithmetic on another type"),
        }
    }

    fn unary(&self, op: UnaryOp, a: ValueId, result: TypeId) -> Result {
        use UnaryOp as U;
        let (s, r) = (self.shape(a)?, self.of(result)?);
        match op {
            U::INeg
            | U::PopCount
            | U::CountLeadingZeros
            | U::CountTrailingZeros
            | U::BitReverse
            | U::SAbs => ensure(s.is_int() && s == r, "an integer and a result like it"),
            U::FNeg => ensure(s.is_float() && s == r, "a float and a result like it"),
            U::Not => ensure(
                (s.is_int() || s.is_bool()) && s == r,
                "an integer or bool and a result like it",
            ),
            U::IsNan | U::IsInf | U::IsFinite | U::IsNormal | U::SignBit => ensure(
                s.is_float() && r.is_bool() && s.lanes == r.lanes,
                "a float and a bool for each lane",
            ),
            U::AnyLane | U::AllLanes => ensure(
                s.is_bool() && r == Shape::scalar(Kind::Bool),
                "bools and one bool",
            ),
        }
    }

    fn compare(&self, p: Predicate, a: ValueId, b: ValueId, result: TypeId) -> Result {
        ensure(self.f.ty(a) == self.f.ty(b), "operands of different types")?;
        let (s, r) = (self.shape(a)?, self.of(result)?);
        ensure(
            r.is_bool() && r.lanes == s.lanes,
            "the result is not a bool for each lane",
        )?;
        let is_float = p as u32 >= Predicate::FOrdEq as u32;
        ensure(
            if is_float {
                s.is_float()
            } else {
                s.is_int() || s.is_ptr()
            },
            "operands of the wrong kind",
        )
    }

    fn convert(&self, op: ConvertOp, a: ValueId, result: TypeId) -> Result {
        use ConvertOp as C;
        let (s, r) = (self.shape(a)?, self.of(result)?);
        if op == C::Bitcast {
            let fine = s.bits() * s.lanes == r.bits() * r.lanes && !s.is_bool() && !r.is_bool();
            return ensure(fine, "a bitcast between different sizes, or of bools");
        }
        ensure(s.lanes == r.lanes, "another number of lanes")?;
        let fine = match op {
            C::Trunc => s.is_int() && r.is_int() && r.bits() < s.bits(),
            C::ZExt | C::SExt => s.is_int() && r.is_int() && r.bits() > s.bits(),
            C::FToU | C::FToS | C::SatFToS | C::SatFToU => s.is_float() && r.is_int(),
            C::UToF | C::SToF => s.is_int() && r.is_float(),
            C::FToF => s.is_float() && r.is_float(),
            C::Bitcast => true,
            C::PtrToInt => s.is_ptr() && r.is_int(),
            C::IntToPtr => s.is_int() && r.is_ptr(),
            C::AddressSpace => s.is_ptr() && r.is_ptr(),
            C::FToBf16 => s.kind == Kind::Float(32) && r.kind == Kind::Int(16),
            C::Bf16ToF => s.kind == Kind::Int(16) && r.kind == Kind::Float(32),
            C::SatSToS | C::SatSToU | C::SatUToS | C::SatUToU => s.is_int() && r.is_int(),
        };
        ensure(fine, "types that this conversion does not have")
    }

    fn math(&self, function: MathFn, args: &[ValueId], result: TypeId) -> Result {
        use MathFn as M;
        let r = self.of(result)?;
        let count = match function {
            M::Fma | M::Mad => 3,
            M::Atan2
            | M::Atan2pi
            | M::Copysign
            | M::Fdim
            | M::Fmax
            | M::Fmin
            | M::Fmod
            | M::Hypot
            | M::Maxmag
            | M::Minmag
            | M::Nextafter
            | M::Pow
            | M::Powr
            | M::Remainder
            | M::NativeDivide
            | M::NativePowr
            | M::Ldexp
            | M::Pown
            | M::Rootn
            | M::RemquoQuotient => 2,
            _ => 1,
        };
        ensure(args.len() == count, "another number of operands")?;
        for (i, &arg) in args.iter().enumerate() {
            let s = self.shape(arg)?;
            let exponent = i == 1 && matches!(function, M::Ldexp | M::Pown | M::Rootn);
            ensure(s.lanes == r.lanes, "another number of lanes")?;
            ensure(
                if exponent {
                    s.kind == Kind::Int(32)
                } else if function == M::Nan {
                    s.is_int()
                } else {
                    s.is_float() && self.f.ty(arg) == self.f.ty(args[0])
                },
                "an operand of the wrong type",
            )?;
        }
        let integer = matches!(
            function,
            M::Ilogb | M::FrexpExponent | M::LgammaSign | M::RemquoQuotient
        );
        ensure(
            if integer {
                r.kind == Kind::Int(32)
            } else if function == M::Nan {
                r.is_float()
            } else {
                result == self.f.ty(args[0])
            },
            "a result of the wrong type",
        )
    }

    fn construct(&self, parts: &[ValueId], result: TypeId) -> Result {
        let types = &self.m.types;
        let wanted = |i: usize| types.element(result, i as u64);
        match types.get(result) {
            Type::Vector(element, n) => {
                let mut lanes = 0u32;
                for &part in parts {
                    let ty = self.f.ty(part);
                    ensure(
                        types.scalar_of(ty) == Some(*element),
                        "a part of another element type",
                    )?;
                    lanes = lanes.saturating_add(types.lane_count(ty));
                }
                ensure(lanes == *n, "the parts do not fill the vector")
            }
            Type::Array(_, n) => {
                let same = parts
                    .iter()
                    .enumerate()
                    .all(|(i, p)| wanted(i) == Some(self.f.ty(*p)));
                ensure(
                    same && parts.len() as u64 == *n,
                    "the parts do not fill the array",
                )
            }
            Type::Struct { fields, .. } => {
                let same = parts
                    .iter()
                    .enumerate()
                    .all(|(i, p)| wanted(i) == Some(self.f.ty(*p)));
                ensure(
                    same && parts.len() == fields.len(),
                    "the parts do not fill the struct",
                )
            }
            _ => Err("the result is no aggregate".into()),
        }
    }

    fn atomic(
        &self,
        op: AtomicOp,
        ptr: ValueId,
        value: Option<ValueId>,
        comparator: Option<ValueId>,
        result: Option<TypeId>,
    ) -> Result {
        use AtomicOp as A;
        self.pointer(ptr)?;
        ensure(
            value.is_none() == matches!(op, A::Load | A::FlagTestAndSet | A::FlagClear),
            "an operand too many or too few",
        )?;
        ensure(
            comparator.is_some() == (op == A::CompareExchange),
            "a comparator too many or too few",
        )?;
        if matches!(op, A::Store | A::FlagClear) {
            ensure(result.is_none(), "it has no result")?;
        } else {
            ensure(result.is_some(), "its result is missing")?;
        }
        let accessed = value.map(|v| self.f.ty(v)).or(result);
        let Some(ty) = accessed else { return Ok(()) };
        let s = self.of(ty)?;
        ensure(s.lanes == 1, "an atomic access to a vector")?;
        if op == A::FlagTestAndSet {
            return ensure(s.is_bool(), "the result is no bool");
        }
        if let (Some(v), Some(r)) = (value, result) {
            ensure(self.f.ty(v) == r, "operand and result are not of one type")?;
        }
        if let (Some(v), Some(c)) = (value, comparator) {
            ensure(self.f.ty(v) == self.f.ty(c), "operands of different types")?;
        }
        ensure(
            match op {
                A::FAdd | A::FMin | A::FMax => s.is_float(),
                A::Load | A::Store | A::Exchange | A::CompareExchange => !s.is_bool(),
                _ => s.is_int(),
            },
            "an operand of the wrong kind",
        )
    }

    fn reduction(&self, r: Reduction, v: ValueId) -> Result {
        use Reduction as R;
        let s = self.shape(v)?;
        ensure(
            match r {
                R::FAdd | R::FMul | R::FMin | R::FMax => s.is_float(),
                R::LogicalAnd | R::LogicalOr | R::LogicalXor => s.is_bool(),
                R::And | R::Or | R::Xor => s.is_int() || s.is_bool(),
                _ => s.is_int(),
            },
            "a reduction of the wrong type",
        )
    }

    fn group(&self, op: GroupOp, args: &[ValueId], result: Option<TypeId>) -> Result {
        use GroupOp as G;
        let count = match op {
            G::Elect => 0,
            G::Broadcast
            | G::Shuffle
            | G::ShuffleXor
            | G::ShuffleUp
            | G::ShuffleDown
            | G::Rotate(_)
            | G::BlockWrite => 2,
            G::ShuffleUpPair | G::ShuffleDownPair => 3,
            _ => 1,
        };
        ensure(args.len() == count, "another number of operands")?;
        if op == G::BlockWrite {
            self.pointer(args[0])?;
            self.shape(args[1])?;
            return ensure(result.is_none(), "a block write has no result");
        }
        let result = result.ok_or("its result is missing")?;
        let like_first = || {
            ensure(
                self.f.ty(args[0]) == result,
                "the result is not of the operand's type",
            )
        };
        let boolean = || ensure(*self.m.types.get(result) == Type::Bool, "no bool result");
        match op {
            G::Reduce(r) | G::InclusiveScan(r) | G::ExclusiveScan(r) => {
                self.reduction(r, args[0])?;
                like_first()
            }
            G::ClusteredReduce(r, n) => {
                self.reduction(r, args[0])?;
                ensure(n.is_power_of_two(), "a cluster that is no power of two")?;
                like_first()
            }
            G::Elect => boolean(),
            G::All | G::Any => {
                ensure(self.scalar(args[0])?.is_bool(), "the operand is no bool")?;
                boolean()
            }
            G::AllEqual => boolean(),
            G::Ballot => {
                ensure(self.scalar(args[0])?.is_bool(), "the operand is no bool")?;
                let r = self.of(result)?;
                ensure(
                    r.kind == Kind::Int(32) && r.lanes == 4,
                    "the result is no vector of four i32",
                )
            }
            G::BlockRead => {
                self.pointer(args[0])?;
                self.of(result).map(drop)
            }
            G::BroadcastFirst => like_first(),
            _ => {
                let last = args[args.len() - 1];
                ensure(self.scalar(last)?.is_int(), "the lane is no integer")?;
                if args.len() == 3 {
                    ensure(
                        self.f.ty(args[1]) == result,
                        "the result is not of the operands' type",
                    )?;
                }
                like_first()
            }
        }
    }
}
