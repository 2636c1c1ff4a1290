//! The operations of the IR, their operands, and their semantics where it is not obvious.

use crate::ids::{BlockId, FunctionId, ValueId};
use crate::types::AddressSpace;

/// Two-operand arithmetic, lane by lane on vectors. Operands and result have one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the names are LLVM's; the exceptions are documented"
)]
pub enum BinaryOp {
    IAdd,
    ISub,
    IMul,
    UDiv,
    SDiv,
    URem,
    SRem,
    /// Sign follows the divisor (OpSMod).
    SMod,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// Sign follows the dividend (C `fmod`).
    FRem,
    /// Sign follows the divisor (OpFMod).
    FMod,
    SMin,
    SMax,
    UMin,
    UMax,
    /// High half of the full product.
    SMulHi,
    UMulHi,
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    /// Rotate left by the second operand modulo the width.
    Rotate,
    /// Also Bool operands.
    LogicalEqual,
    LogicalNotEqual,
}

/// One-operand arithmetic, lane by lane on vectors; the result has the operand's type unless said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the names are the field's; the exceptions are documented"
)]
pub enum UnaryOp {
    INeg,
    FNeg,
    Not,
    PopCount,
    CountLeadingZeros,
    CountTrailingZeros,
    BitReverse,
    /// Absolute value of a signed integer, as an unsigned one.
    SAbs,
    /// Bool results:
    IsNan,
    IsInf,
    IsFinite,
    IsNormal,
    /// The sign bit of a float.
    SignBit,
    /// Bool result from a Bool vector.
    AnyLane,
    AllLanes,
}

/// Comparison, lane by lane; Bool (vector) result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Predicate {
    IEq,
    INe,
    ULt,
    ULe,
    UGt,
    UGe,
    SLt,
    SLe,
    SGt,
    SGe,
    FOrdEq,
    FOrdNe,
    FOrdLt,
    FOrdLe,
    FOrdGt,
    FOrdGe,
    FUnordEq,
    FUnordNe,
    FUnordLt,
    FUnordLe,
    FUnordGt,
    FUnordGe,
    FOrdered,
    FUnordered,
}

impl Predicate {
    /// The predicate for exchanged operands: `a < b` is `b > a`.
    #[must_use]
    pub fn swapped(self) -> Self {
        use Predicate as P;
        match self {
            P::ULt => P::UGt,
            P::ULe => P::UGe,
            P::UGt => P::ULt,
            P::UGe => P::ULe,
            P::SLt => P::SGt,
            P::SLe => P::SGe,
            P::SGt => P::SLt,
            P::SGe => P::SLe,
            P::FOrdLt => P::FOrdGt,
            P::FOrdLe => P::FOrdGe,
            P::FOrdGt => P::FOrdLt,
            P::FOrdGe => P::FOrdLe,
            P::FUnordLt => P::FUnordGt,
            P::FUnordLe => P::FUnordGe,
            P::FUnordGt => P::FUnordLt,
            P::FUnordGe => P::FUnordLe,
            same => same,
        }
    }

    /// The negated predicate; for floats it includes the unordered case.
    #[must_use]
    pub fn inverse(self) -> Self {
        use Predicate as P;
        match self {
            P::IEq => P::INe,
            P::INe => P::IEq,
            P::ULt => P::UGe,
            P::ULe => P::UGt,
            P::UGt => P::ULe,
            P::UGe => P::ULt,
            P::SLt => P::SGe,
            P::SLe => P::SGt,
            P::SGt => P::SLe,
            P::SGe => P::SLt,
            P::FOrdEq => P::FUnordNe,
            P::FOrdNe => P::FUnordEq,
            P::FOrdLt => P::FUnordGe,
            P::FOrdLe => P::FUnordGt,
            P::FOrdGt => P::FUnordLe,
            P::FOrdGe => P::FUnordLt,
            P::FUnordEq => P::FOrdNe,
            P::FUnordNe => P::FOrdEq,
            P::FUnordLt => P::FOrdGe,
            P::FUnordLe => P::FOrdGt,
            P::FUnordGt => P::FOrdLe,
            P::FUnordGe => P::FOrdLt,
            P::FOrdered => P::FUnordered,
            P::FUnordered => P::FOrdered,
        }
    }
}

/// Conversion between scalar or equally long vector types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the names are LLVM's; the exceptions are documented"
)]
pub enum ConvertOp {
    Trunc,
    ZExt,
    SExt,
    FToU,
    FToS,
    UToF,
    SToF,
    /// Between float widths, either way.
    FToF,
    /// Same size, bits kept; also between vectors of other lengths.
    Bitcast,
    PtrToInt,
    IntToPtr,
    /// Between address spaces; the bits stay.
    AddressSpace,
    /// f32 to the bits of a bfloat16 in an `Int(16)`, round to nearest even.
    FToBf16,
    /// The bits of a bfloat16 in an `Int(16)` to f32.
    Bf16ToF,
    /// Integer to a narrower or equal integer, saturating: source signed/unsigned, result signed/unsigned.
    SatSToS,
    SatSToU,
    SatUToS,
    SatUToU,
    /// Float to integer, saturating, NaN to 0.
    SatFToS,
    SatFToU,
}

/// Explicit rounding of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(missing_docs, reason = "OpenCL C's suffixes")]
pub enum Rounding {
    /// The default of the conversion: nearest even, towards zero for float to integer.
    #[default]
    Default,
    Rte,
    Rtz,
    Rtp,
    Rtn,
}

/// Flags of an arithmetic instruction: assumptions that optimisations may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Signed overflow does not happen.
    pub nsw: bool,
    /// Unsigned overflow does not happen.
    pub nuw: bool,
    /// SPIR-V FPFastMathMode bits (NotNaN 1, NotInf 2, NSZ 4, AllowRecip 8, Fast 16, AllowContract
    /// 0x10000, AllowReassoc 0x20000), or [`Flags::ROUNDED`].
    pub fast: u32,
}

impl Flags {
    /// Bit of [`Flags::fast`]: the operation is not contracted or reassociated, whatever the build options say. Set for
    /// results that a program stores in a volatile variable, by which sources forbid this.
    pub const ROUNDED: u32 = 0x2000_0000;
}

/// OpenCL.std mathematics, one float type throughout unless said, lane by lane on vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    missing_docs,
    reason = "the names are OpenCL C's; the exceptions are documented"
)]
pub enum MathFn {
    Acos,
    Acosh,
    Acospi,
    Asin,
    Asinh,
    Asinpi,
    Atan,
    Atan2,
    Atanh,
    Atanpi,
    Atan2pi,
    Cbrt,
    Ceil,
    Copysign,
    Cos,
    Cosh,
    Cospi,
    Erf,
    Erfc,
    Exp,
    Exp2,
    Exp10,
    Expm1,
    Fabs,
    Fdim,
    Floor,
    Fma,
    Fmax,
    Fmin,
    Fmod,
    Hypot,
    Lgamma,
    Log,
    Log2,
    Log10,
    Log1p,
    Logb,
    Mad,
    Maxmag,
    Minmag,
    Nextafter,
    Pow,
    Powr,
    Remainder,
    Rint,
    Round,
    Rsqrt,
    Sin,
    Sinh,
    Sinpi,
    Sqrt,
    Tan,
    Tanh,
    Tanpi,
    Tgamma,
    Trunc,
    NativeCos,
    NativeDivide,
    NativeExp,
    NativeExp2,
    NativeExp10,
    NativeLog,
    NativeLog2,
    NativeLog10,
    NativePowr,
    NativeRecip,
    NativeRsqrt,
    NativeSin,
    NativeSqrt,
    NativeTan,
    /// Second operand Int(32).
    Ldexp,
    Pown,
    Rootn,
    /// Result Int(32).
    Ilogb,
    /// The two results of frexp; the exponent is Int(32).
    FrexpMantissa,
    FrexpExponent,
    /// The two results of modf.
    ModfFraction,
    ModfInteger,
    /// The first result of fract (the second is floor).
    Fract,
    /// The sign of gamma: Int(32).
    LgammaSign,
    /// The quotient bits of remquo: Int(32) (the remainder is `Remainder`).
    RemquoQuotient,
    /// Operand Int (the payload), result Float.
    Nan,
}

/// A built-in value: ids and sizes of a work-item. Values of 64 bits have a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SPIR-V's BuiltIn names")]
pub enum Builtin {
    /// Int(64), one dimension (0..3).
    GlobalInvocationId,
    GlobalSize,
    GlobalOffset,
    WorkgroupId,
    NumWorkgroups,
    LocalInvocationId,
    WorkgroupSize,
    EnqueuedWorkgroupSize,
    /// Int(64), dimension ignored.
    GlobalLinearId,
    LocalInvocationIndex,
    /// Int(32), dimension ignored.
    WorkDim,
    SubgroupSize,
    SubgroupMaxSize,
    SubgroupId,
    NumSubgroups,
    NumEnqueuedSubgroups,
    SubgroupLocalInvocationId,
}

/// The scope of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SPIR-V's names")]
pub enum Scope {
    CrossDevice,
    Device,
    Workgroup,
    Subgroup,
    Invocation,
}

/// Memory order of an atomic or fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "SPIR-V's names")]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// Read-modify-write. The result is the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "LLVM's names; the exceptions are documented")]
pub enum AtomicOp {
    /// No operand; result is the value.
    Load,
    /// One operand, no result.
    Store,
    Exchange,
    /// `value` is the new value, `comparator` the expected one.
    CompareExchange,
    IAdd,
    ISub,
    SMin,
    SMax,
    UMin,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
    /// No value operand: set to 1, result Bool "was set". The flag is an Int(32).
    FlagTestAndSet,
    /// No value operand, no result.
    FlagClear,
}

impl AtomicOp {
    /// Whether memory is the same in whatever order several of these operations are carried out.
    #[must_use]
    pub const fn commutes(self) -> bool {
        matches!(
            self,
            Self::IAdd
                | Self::ISub
                | Self::SMin
                | Self::SMax
                | Self::UMin
                | Self::UMax
                | Self::And
                | Self::Or
                | Self::Xor
        )
    }
}

/// Associative operation of a reduction or scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Reduction {
    IAdd,
    IMul,
    SMin,
    SMax,
    UMin,
    UMax,
    And,
    Or,
    Xor,
    FAdd,
    FMul,
    FMin,
    FMax,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
}

/// An operation among the work-items of a group. Operand lists in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupOp {
    /// `[value]`; all lanes get the result.
    Reduce(Reduction),
    /// `[value]`; runs of `cluster` lanes, a power of two.
    ClusteredReduce(Reduction, u32),
    /// `[value]`.
    InclusiveScan(Reduction),
    /// `[value]`; the first gets the identity.
    ExclusiveScan(Reduction),
    /// `[value, linear local index Int(64) (work-group) or lane Int(32) (sub-group)]`.
    Broadcast,
    /// `[value]`; from the lowest active lane.
    BroadcastFirst,
    /// `[]`; true in the lowest active lane.
    Elect,
    /// `[Bool]`.
    All,
    /// `[Bool]`.
    Any,
    /// `[value]`; Bool.
    AllEqual,
    /// `[Bool]`; vector of 4 Int(32).
    Ballot,
    /// `[value, lane Int(32)]`.
    Shuffle,
    /// `[value, mask Int(32)]`.
    ShuffleXor,
    /// `[value, delta Int(32)]`; lane - delta.
    ShuffleUp,
    /// `[value, delta Int(32)]`; lane + delta.
    ShuffleDown,
    /// `[previous, current, delta Int(32)]`: INTEL's two-source form.
    ShuffleUpPair,
    /// `[current, next, delta Int(32)]`: INTEL's two-source form.
    ShuffleDownPair,
    /// `[value, delta Int(32)]`; within clusters of that many lanes (0: the sub-group).
    Rotate(u32),
    /// `[pointer]`: lane l reads element l of each row of `size` lanes; result scalar or vector.
    BlockRead,
    /// `[pointer, value]`.
    BlockWrite,
}

/// Which work-items take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupScope {
    /// The work-group. Expanded before a back end sees the module.
    Workgroup,
    /// The sub-group.
    Subgroup,
}

/// How a checked access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Touch {
    Read,
    Write,
    /// An atomic operation; `CompareExchange` and others that write count as both.
    Atomic {
        writes: bool,
        /// Whether memory is the same in whatever order several of them are carried out.
        commutes: bool,
        scope: Scope,
        order: Order,
    },
}

/// A mistake in the values of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueMistake {
    /// Integer division or remainder by zero, or of the least number by -1.
    Division,
    /// A shift by the width or more.
    Shift,
    /// A float that the integer type cannot hold.
    Conversion,
}

/// The reason why a program relies on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reliance {
    /// It decides a branch.
    Branch,
    /// It is an address, or part of one.
    Address,
    /// It tells a group operation which work-item is meant.
    Argument,
    /// An atomic operation computes with it.
    Atomic,
    /// It is computed and then stored to memory that outlives the launch.
    Store,
    /// It is loaded and stored there as it is: padding may be part of it.
    Copy,
}

/// An operation of `solum check`; only [`passes::instrument`](crate::passes::instrument) and
/// [`passes::initialised`](crate::passes::initialised) make them. Operand lists in
/// brackets; an `epoch` is an Int(32) that counts barriers: [`crate::abi::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckOp {
    /// `[]`; Int(64): the first byte of the allocation that this pointer argument points into.
    ArgumentStart(u32),
    /// `[]`; Int(64): bytes of that allocation.
    ArgumentSize(u32),
    /// `[pointer]`; Int(64): the first byte of the allocation that it points into.
    AllocationStart,
    /// `[pointer]`; Int(64): bytes of that allocation.
    AllocationSize,
    /// `[is outside: Bool, pointer, first byte of the allocation Int(64)]`: reports an access of so many bytes outside its
    /// allocation.
    Bounds(Touch, u32),
    /// `[is misaligned: Bool, pointer, alignment Int(64)]`: reports an access of so many bytes at an address that is no
    /// multiple of what the instruction promises.
    Alignment(Touch, u32),
    /// `[is outside: Bool, offset in bytes Int(64), bytes of the variable Int(64)]`: as `Bounds`, for private arrays and
    /// work-group variables.
    VariableBounds(Touch, u32, AddressSpace),
    /// `[pointer, epoch]`, or for a write `[pointer, epoch, value Int(64)]`: an access of so many bytes.
    Access(Touch, u32),
    /// `[pointer, epoch]`: a read of so many bytes through an argument that the kernel does not write through; it counts
    /// only if [`crate::abi::check::ArgumentBounds`] says so.
    ArgumentRead(u32, u32),
    /// `[epoch]`: an atomic fence.
    Fence(Scope, Order),
    /// `[epoch]`, or with a value that all work-items of the group have to agree on `[epoch, value Int(64)]`: the
    /// work-item reaches a work-group barrier.
    Arrive,
    /// `[epoch]`, or with a value that all work-items of the sub-group have to agree on `[epoch, value Int(64)]`: the
    /// work-item reaches an operation of its sub-group.
    ArriveSubGroup,
    /// `[epoch, value Int(64)]`: the work-item names a value that all work-items of the group have to agree on, and does not
    /// wait for them.
    Agree,
    /// `[epoch]`: the work-item has ended.
    Leave,
    /// `[is wrong: Bool, operand Int(64), operand Int(64)]`.
    Value(ValueMistake),
    /// `[]`: the shadow of the memory that this pointer argument points to, a pointer.
    ArgumentShadow(u32),
    /// `[pointer]`: the shadow of the memory that it points to, a pointer of its type.
    AllocationShadow,
    /// `[is not initialised: Bool, address, shadow, source Int(32)]`: the program relies on a value of so many bytes. The
    /// address and its shadow, pointers or Int(64), are those of the access at hand, or of the load at the word `source` that
    /// brought the value; 0 where they are not known.
    Uninitialised(Reliance, u32),
    /// `[]`: memory may be written in ways that shadows do not follow.
    Unseen,
}

impl CheckOp {
    /// Whether it only reads facts of the launch.
    #[must_use]
    pub const fn is_pure(self) -> bool {
        matches!(
            self,
            Self::ArgumentStart(_)
                | Self::ArgumentSize(_)
                | Self::AllocationStart
                | Self::AllocationSize
                | Self::ArgumentShadow(_)
                | Self::AllocationShadow
        )
    }

    /// Whether its first operand says if there is anything to report.
    #[must_use]
    pub const fn is_conditional(self) -> bool {
        matches!(
            self,
            Self::Bounds(..)
                | Self::Alignment(..)
                | Self::VariableBounds(..)
                | Self::Value(_)
                | Self::Uninitialised(..)
        )
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub enum Op {
    /// SSA join.
    Phi(Vec<(BlockId, ValueId)>),
    /// Arithmetic.
    Binary(BinaryOp, ValueId, ValueId, Flags),
    /// Arithmetic.
    Unary(UnaryOp, ValueId, Flags),
    /// Comparison.
    Compare(Predicate, ValueId, ValueId),
    /// Conversion to the result's type.
    Convert(ConvertOp, ValueId, Rounding),
    /// `cond` is Bool, or a Bool vector as long as the operands.
    Select {
        /// Condition.
        cond: ValueId,
        /// When true.
        then: ValueId,
        /// When false.
        otherwise: ValueId,
    },
    /// Mathematics.
    Math(MathFn, Vec<ValueId>, Flags),
    /// Vector, array or struct from its parts; vectors may be given as parts of vectors.
    Construct(Vec<ValueId>),
    /// Part of an aggregate or vector at a constant path.
    Extract(ValueId, Vec<u32>),
    /// (aggregate, part, path): the aggregate with one part replaced.
    Insert(ValueId, ValueId, Vec<u32>),
    /// (vector, index): out of range is unspecified.
    ExtractDynamic(ValueId, ValueId),
    /// (vector, element, index).
    InsertDynamic(ValueId, ValueId, ValueId),
    /// (a, b, lanes): lane numbers into a then b; `u32::MAX` is undefined.
    Shuffle(ValueId, ValueId, Vec<u32>),
    /// Private memory of `size` bytes; the result is a private pointer. In a loop each evaluation may give the same
    /// memory. After [`passes::prepare`](crate::passes::prepare) only in the entry block.
    Alloca {
        /// Bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// Result's type from memory.
    Load {
        /// Address.
        ptr: ValueId,
        /// Known alignment of the address in bytes.
        align: u64,
        /// Must not be removed, merged or split.
        volatile: bool,
    },
    /// A value to memory.
    Store {
        /// Address.
        ptr: ValueId,
        /// The value.
        value: ValueId,
        /// Known alignment in bytes.
        align: u64,
        /// Must not be removed, merged or split.
        volatile: bool,
    },
    /// `size` (Int(64)) bytes; the ranges do not overlap.
    CopyMemory {
        /// To.
        dst: ValueId,
        /// From.
        src: ValueId,
        /// Bytes, Int(64).
        size: ValueId,
        /// Known alignment of both in bytes.
        align: u64,
    },
    /// `ptr + index * stride + offset` bytes; index Int(64), signed.
    PtrOffset {
        /// Base.
        ptr: ValueId,
        /// Index and stride in bytes.
        index: Option<(ValueId, i64)>,
        /// Bytes.
        offset: i64,
    },
    /// Generic pointer to one space: null when it does not point there.
    GenericToExplicit(ValueId, AddressSpace),
    /// Bool: whether a generic pointer points into `space`.
    GenericIs(ValueId, AddressSpace),
    /// Atomic access.
    Atomic {
        /// Which.
        op: AtomicOp,
        /// Address.
        ptr: ValueId,
        /// Operand; see [`AtomicOp`].
        value: Option<ValueId>,
        /// Only for `CompareExchange`.
        comparator: Option<ValueId>,
        /// Scope.
        scope: Scope,
        /// Order (of success).
        order: Order,
    },
    /// Memory fence.
    Fence(Scope, Order),
    /// Execution and memory barrier for all work-items of the scope, `Workgroup` or `Subgroup`.
    Barrier(Scope),
    /// A builtin in a dimension.
    WorkItem(Builtin, u8),
    /// A group operation.
    Group(GroupOp, GroupScope, Vec<ValueId>),
    /// Direct call.
    Call(FunctionId, Vec<ValueId>),
    /// Call through a function pointer.
    CallIndirect(ValueId, Vec<ValueId>),
    /// Format index in [`crate::Module::printf_formats`], arguments; result Int(32).
    Printf(u32, Vec<ValueId>),
    /// Ends the launch with a fault. Operands, all Int(64): the global id in three dimensions; for a failed assertion
    /// `[gx, gy, gz, lx, ly, lz, expression, file, line, function]`, with pointers to texts.
    Trap(Vec<ValueId>),
    /// A counter that increases with time, in unspecified units; result Int(64).
    Clock,
    /// The Bool is true; optimisations may assume it.
    Assume(ValueId),
    /// The value itself (OpCopyObject, freeze); not simplified.
    Copy(ValueId),
    /// An operation of `solum check`; absent in all other programs.
    Check(CheckOp, Vec<ValueId>),
}

impl Op {
    /// Calls `f` on every operand.
    pub fn operands(&self, mut f: impl FnMut(ValueId)) {
        // Shares the code of `operands_mut`; the clone copies ids only.
        self.clone().operands_mut(|v| f(*v));
    }
    /// Calls `f` on every operand, which `f` may change.
    pub fn operands_mut(&mut self, mut f: impl FnMut(&mut ValueId)) {
        match self {
            Op::Phi(incoming) => incoming.iter_mut().for_each(|(_, v)| f(v)),
            Op::Binary(_, a, b, _)
            | Op::Compare(_, a, b)
            | Op::Insert(a, b, _)
            | Op::ExtractDynamic(a, b)
            | Op::Shuffle(a, b, _) => {
                f(a);
                f(b);
            }
            Op::Unary(_, a, _)
            | Op::Convert(_, a, _)
            | Op::Extract(a, _)
            | Op::GenericToExplicit(a, _)
            | Op::GenericIs(a, _)
            | Op::Assume(a)
            | Op::Copy(a) => f(a),
            Op::Select {
                cond: a,
                then: b,
                otherwise: c,
            }
            | Op::InsertDynamic(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Op::Math(_, args, _)
            | Op::Construct(args)
            | Op::Group(_, _, args)
            | Op::Call(_, args)
            | Op::Printf(_, args)
            | Op::Check(_, args)
            | Op::Trap(args) => args.iter_mut().for_each(f),
            Op::CallIndirect(callee, args) => {
                f(callee);
                args.iter_mut().for_each(f);
            }
            Op::Load { ptr, .. } => f(ptr),
            Op::Store { ptr, value, .. } => {
                f(ptr);
                f(value);
            }
            Op::CopyMemory { dst, src, size, .. } => {
                f(dst);
                f(src);
                f(size);
            }
            Op::PtrOffset { ptr, index, .. } => {
                f(ptr);
                if let Some((index, _)) = index {
                    f(index);
                }
            }
            Op::Atomic {
                ptr,
                value,
                comparator,
                ..
            } => {
                f(ptr);
                value.iter_mut().for_each(&mut f);
                comparator.iter_mut().for_each(f);
            }
            Op::Alloca { .. } | Op::Fence(..) | Op::Barrier(_) | Op::WorkItem(..) | Op::Clock => {}
        }
    }
    /// Whether it can be removed when its result is unused.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        if let Op::Check(check, _) = self {
            return check.is_pure();
        }
        !matches!(
            self,
            Op::Store { .. }
                | Op::CopyMemory { .. }
                | Op::Atomic { .. }
                | Op::Fence(..)
                | Op::Barrier(_)
                | Op::Group(..)
                | Op::Call(..)
                | Op::CallIndirect(..)
                | Op::Printf(..)
                | Op::Trap(_)
                | Op::Clock
                | Op::Assume(_)
                | Op::Load { volatile: true, .. }
        )
    }
}
