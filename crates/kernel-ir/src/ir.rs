//! The SSA form: modules, functions, blocks, instructions.
//!
//! Meaning, where it is not the textbook's:
//! - A pointer is 64 bits in every address space; a generic pointer equals the pointer it came from.
//! - Shifts by the width or more, division by zero, `INT_MIN / -1`, float-to-integer out of range
//!   give an unspecified value and never a fault.
//! - `Barrier` at work-group scope and work-group [`Op::Group`] are reached by all work-items of the
//!   group; sub-group operations work on the lanes of the sub-group that arrive together.
//! - Instructions of a block are evaluated in order; `Phi`s stand first and read their inputs at once.

use crate::types::{AddressSpace, ConstId, Constants, TypeId, Types};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index into the table that handed it out.
            #[must_use]
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
ids! {
    /// A function of a [`Module`].
    FunctionId,
    /// A program-scope or work-group variable of a [`Module`].
    GlobalId,
    /// A block of a [`Function`].
    BlockId,
    /// An instruction of a [`Function`].
    InstId,
    /// A value of a [`Function`].
    ValueId,
}

/// A linked, specialised program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// All types.
    pub types: Types,
    /// All constants.
    pub constants: Constants,
    /// Program-scope and work-group variables.
    pub globals: Vec<Global>,
    /// Functions; a [`Kernel`] names one of them.
    pub functions: Vec<Function>,
    /// Entry points, in the order of the modules.
    pub kernels: Vec<Kernel>,
    /// Format strings of [`Op::Printf`], without the final zero.
    pub printf_formats: Vec<Vec<u8>>,
}

/// A variable that outlives a work-item.
#[derive(Clone, Debug)]
pub struct Global {
    /// Name (OpName or linkage name); may be empty.
    pub name: String,
    /// `Global`, `Constant` or `Local`.
    pub space: AddressSpace,
    /// Type of the content.
    pub ty: TypeId,
    /// Bytes; for `Local` with `per_work_item` this many for each work-item of the group.
    pub size: u64,
    /// Only `Local`: sized by the launch (scratch of expanded work-group operations).
    pub per_work_item: bool,
    /// Alignment in bytes.
    pub align: u64,
    /// Initial content; `None` is zero (for `Local`: unspecified).
    pub init: Option<ConstId>,
    /// Visible by name to `zeModuleGetGlobalPointer`.
    pub exported: bool,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name that `zeKernelCreate` asks for.
    pub name: String,
    /// Its body.
    pub function: FunctionId,
    /// `reqd_work_group_size`.
    pub required_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint`.
    pub group_size_hint: Option<[u32; 3]>,
    /// `SubgroupSize` execution mode; 0 when the kernel does not ask.
    pub required_sub_group_size: u32,
    /// Floating-point contraction allowed (no `ContractionOff`).
    pub contract: bool,
    /// `DenormFlushToZero` for 32-bit floats, or the option that means it.
    pub flush_denorms: bool,
    /// Argument names, type names and qualifiers as far as the module names them.
    pub arg_infos: Vec<KernelArg>,
    /// Text of `zeKernelGetSourceAttributes`.
    pub attributes: String,
}

/// What a kernel's parameter is to the host.
#[derive(Clone, Debug)]
pub struct KernelArg {
    /// OpName; may be empty.
    pub name: String,
    /// `Private` for by-value; `Local` when the host gives a size only.
    pub kind: ArgKind,
    /// Bytes of the value as the host passes it (8 for pointers).
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Bytes of the value. A by-value aggregate that SPIR-V passes as a `Function` pointer with
    /// `ByVal` is this too: the body's parameter is then a private pointer to the bytes.
    Value,
    /// A device pointer (global or constant).
    Pointer,
    /// A block of work-group memory whose size the host gives.
    Local,
    /// An image handle.
    Image,
    /// A sampler handle.
    Sampler,
}

/// A function body.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// For messages.
    pub name: String,
    /// Result type (`Void` type for kernels).
    pub result: Option<TypeId>,
    /// Parameters in order.
    pub params: Vec<ValueId>,
    /// For a kernel: parameter `i` is a private pointer to a by-value aggregate of this size.
    pub by_value: Vec<Option<u64>>,
    /// All values.
    pub values: Vec<Value>,
    /// All instructions, live or not; blocks say which are live.
    pub insts: Vec<Inst>,
    /// Blocks; `BlockId(0)` is the entry and has no predecessors. Empty for an import.
    pub blocks: Vec<Block>,
}

/// A value: its type and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// Its definition.
    pub def: ValueDef,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Parameter of the function, by position.
    Param(u32),
    /// Result of an instruction.
    Inst(InstId),
    /// A module constant.
    Const(ConstId),
    /// Address of a variable.
    Global(GlobalId),
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Instructions in order, phis first.
    pub insts: Vec<InstId>,
    /// How it ends.
    pub term: Terminator,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// Its result, unless it has none.
    pub result: Option<ValueId>,
    /// Word offset in the SPIR-V module it came from, for messages; 0 when made by a pass.
    pub word: u32,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// Jump.
    Br(BlockId),
    /// `cond` is a Bool.
    CondBr {
        /// Condition.
        cond: ValueId,
        /// When true.
        then: BlockId,
        /// When false.
        otherwise: BlockId,
    },
    /// On an integer.
    Switch {
        /// Selector.
        value: ValueId,
        /// Target when no case matches.
        default: BlockId,
        /// (zero-extended value, target), values distinct.
        cases: Vec<(u64, BlockId)>,
    },
    /// End of the function.
    Ret(Option<ValueId>),
    /// Never reached by a correct program; ends the work-item if it is.
    Unreachable,
}

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
    /// The way back.
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

/// Licences for an arithmetic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Signed overflow does not happen.
    pub nsw: bool,
    /// Unsigned overflow does not happen.
    pub nuw: bool,
    /// SPIR-V FPFastMathMode bits (NotNaN 1, NotInf 2, NSZ 4, AllowRecip 8, Fast 16, AllowContract
    /// 0x10000, AllowReassoc 0x20000).
    pub fast: u32,
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

/// The value a work-item asks about its place. 64-bit ones take a dimension.
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

/// How far an effect is seen.
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
    /// [value]; all lanes get the result.
    Reduce(Reduction),
    /// [value]; runs of `cluster` lanes, a power of two.
    ClusteredReduce(Reduction, u32),
    /// [value].
    InclusiveScan(Reduction),
    /// [value]; the first gets the identity.
    ExclusiveScan(Reduction),
    /// [value, linear local index Int(64) (work-group) or lane Int(32) (sub-group)].
    Broadcast,
    /// [value]; from the lowest active lane.
    BroadcastFirst,
    /// []; true in the lowest active lane.
    Elect,
    /// [Bool].
    All,
    /// [Bool].
    Any,
    /// [value]; Bool.
    AllEqual,
    /// [Bool]; vector of 4 Int(32).
    Ballot,
    /// [value, lane Int(32)].
    Shuffle,
    /// [value, mask Int(32)].
    ShuffleXor,
    /// [value, delta Int(32)]; lane - delta.
    ShuffleUp,
    /// [value, delta Int(32)]; lane + delta.
    ShuffleDown,
    /// [previous, current, delta Int(32)]: INTEL's two-source form.
    ShuffleUpPair,
    /// [current, next, delta Int(32)]: INTEL's two-source form.
    ShuffleDownPair,
    /// [value, delta Int(32)]; within clusters of that many lanes (0: the sub-group).
    Rotate(u32),
    /// [pointer]: lane l reads element l of each row of `size` lanes; result scalar or vector.
    BlockRead,
    /// [pointer, value].
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

/// What an instruction does.
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
    /// Private memory of `size` bytes; result a private pointer. Evaluated anew in a loop it may give
    /// the same memory. Only in the entry block after [`front`](crate) is done.
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
        /// Known alignment of the address in bytes; never more than is promised.
        align: u64,
        /// Must happen as written.
        volatile: bool,
    },
    /// To memory.
    Store {
        /// Address.
        ptr: ValueId,
        /// What.
        value: ValueId,
        /// Known alignment in bytes.
        align: u64,
        /// Must happen as written.
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
    /// Generic to a named space: null when the pointer does not point there.
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
    /// All work-items of the scope meet; memory of the scope is then in order. `Workgroup` or `Subgroup`.
    Barrier(Scope),
    /// A builtin in a dimension.
    WorkItem(Builtin, u8),
    /// A group operation.
    Group(GroupOp, GroupScope, Vec<ValueId>),
    /// Direct call.
    Call(FunctionId, Vec<ValueId>),
    /// Call through a function pointer.
    CallIndirect(ValueId, Vec<ValueId>),
    /// Format index in [`Module::printf_formats`], arguments; result Int(32).
    Printf(u32, Vec<ValueId>),
    /// The Bool holds.
    Assume(ValueId),
    /// The value, kept from being simplified away (OpCopyObject, freeze).
    Copy(ValueId),
}

impl Op {
    /// Calls `f` on every operand.
    pub fn operands(&self, mut f: impl FnMut(ValueId)) {
        // One walk serves both: the clone is of ids only and never on a hot path.
        self.clone().operands_mut(|v| f(*v));
    }
    /// Calls `f` on every operand; `f` may replace it.
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
            | Op::Printf(_, args) => args.iter_mut().for_each(f),
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
            Op::Alloca { .. } | Op::Fence(..) | Op::Barrier(_) | Op::WorkItem(..) => {}
        }
    }
    /// Whether it may be removed when its result is not used.
    #[must_use]
    pub fn is_pure(&self) -> bool {
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
                | Op::Assume(_)
                | Op::Load { volatile: true, .. }
        )
    }
}

impl Terminator {
    /// Calls `f` on every successor.
    pub fn successors(&self, mut f: impl FnMut(BlockId)) {
        match self {
            Terminator::Br(target) => f(*target),
            Terminator::CondBr {
                then, otherwise, ..
            } => {
                f(*then);
                f(*otherwise);
            }
            Terminator::Switch { default, cases, .. } => {
                f(*default);
                cases.iter().for_each(|&(_, target)| f(target));
            }
            Terminator::Ret(_) | Terminator::Unreachable => {}
        }
    }
    /// Calls `f` on every successor; `f` may replace it.
    pub fn successors_mut(&mut self, mut f: impl FnMut(&mut BlockId)) {
        match self {
            Terminator::Br(target) => f(target),
            Terminator::CondBr {
                then, otherwise, ..
            } => {
                f(then);
                f(otherwise);
            }
            Terminator::Switch { default, cases, .. } => {
                f(default);
                cases.iter_mut().for_each(|(_, target)| f(target));
            }
            Terminator::Ret(_) | Terminator::Unreachable => {}
        }
    }
    /// The value it reads.
    pub fn operand_mut(&mut self) -> Option<&mut ValueId> {
        match self {
            Terminator::CondBr { cond, .. } => Some(cond),
            Terminator::Switch { value, .. } => Some(value),
            Terminator::Ret(value) => value.as_mut(),
            Terminator::Br(_) | Terminator::Unreachable => None,
        }
    }
    /// The value it reads.
    #[must_use]
    pub fn operand(&self) -> Option<ValueId> {
        match self {
            Terminator::CondBr { cond, .. } => Some(*cond),
            Terminator::Switch { value, .. } => Some(*value),
            Terminator::Ret(value) => *value,
            Terminator::Br(_) | Terminator::Unreachable => None,
        }
    }
}

impl Function {
    /// The type of `value`.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value.index()].ty
    }
    /// A new value.
    pub fn add_value(&mut self, ty: TypeId, def: ValueDef) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty, def });
        id
    }
    /// A new instruction, in no block yet; `ty` is its result's type.
    pub fn add_inst(&mut self, op: Op, ty: Option<TypeId>, word: u32) -> (InstId, Option<ValueId>) {
        let id = InstId(self.insts.len() as u32);
        let result = ty.map(|ty| self.add_value(ty, ValueDef::Inst(id)));
        self.insts.push(Inst { op, result, word });
        (id, result)
    }
    /// A new instruction at the end of `block`.
    pub fn push(
        &mut self,
        block: BlockId,
        op: Op,
        ty: Option<TypeId>,
        word: u32,
    ) -> Option<ValueId> {
        let (id, result) = self.add_inst(op, ty, word);
        self.blocks[block.index()].insts.push(id);
        result
    }
    /// A new empty block that ends in `Unreachable`.
    pub fn add_block(&mut self) -> BlockId {
        let id = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block {
            insts: Vec::new(),
            term: Terminator::Unreachable,
        });
        id
    }
    /// Predecessors of every block, each edge once.
    #[must_use]
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut all = vec![Vec::new(); self.blocks.len()];
        for (i, block) in self.blocks.iter().enumerate() {
            block
                .term
                .successors(|to| all[to.index()].push(BlockId(i as u32)));
        }
        for list in &mut all {
            list.sort_unstable();
            list.dedup();
        }
        all
    }
    /// Reachable blocks in reverse post-order, the entry first.
    #[must_use]
    pub fn reverse_post_order(&self) -> Vec<BlockId> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut seen = vec![false; self.blocks.len()];
        if self.blocks.is_empty() {
            return order;
        }
        // An explicit stack: hostile modules nest deeper than a thread's stack.
        let mut stack = vec![(BlockId(0), 0usize)];
        seen[0] = true;
        while let Some((block, next)) = stack.pop() {
            let mut targets = Vec::new();
            self.blocks[block.index()]
                .term
                .successors(|to| targets.push(to));
            if let Some(&to) = targets.get(next) {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to, 0));
                }
            } else {
                order.push(block);
            }
        }
        order.reverse();
        order
    }
}
