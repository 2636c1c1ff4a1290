//! The names of operations in the text form: one table for printing and parsing, in which no variant can be missing.

use crate::ir::{
    AtomicOp, BinaryOp, Builtin, ConvertOp, MathFn, Order, Predicate, Reduction, Rounding, Scope,
    UnaryOp,
};
use crate::types::AddressSpace;

macro_rules! words {
    ($($ty:ident: $write:ident, $read:ident { $($variant:ident),* $(,)? })*) => {$(
        pub(crate) fn $write(v: $ty) -> &'static str {
            match v { $($ty::$variant => stringify!($variant)),* }
        }
        pub(super) fn $read(word: &str) -> Option<$ty> {
            [$((stringify!($variant), $ty::$variant)),*]
                .into_iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(word))
                .map(|(_, v)| v)
        }
    )*};
}

words! {
    BinaryOp: binary, read_binary {
        IAdd, ISub, IMul, UDiv, SDiv, URem, SRem, SMod, Shl, LShr, AShr, And, Or, Xor, FAdd, FSub,
        FMul, FDiv, FRem, FMod, SMin, SMax, UMin, UMax, SMulHi, UMulHi, SAddSat, UAddSat, SSubSat,
        USubSat, Rotate, LogicalEqual, LogicalNotEqual,
    }
    UnaryOp: unary, read_unary {
        INeg, FNeg, Not, PopCount, CountLeadingZeros, CountTrailingZeros, BitReverse, SAbs, IsNan,
        IsInf, IsFinite, IsNormal, SignBit, AnyLane, AllLanes,
    }
    Predicate: predicate, read_predicate {
        IEq, INe, ULt, ULe, UGt, UGe, SLt, SLe, SGt, SGe, FOrdEq, FOrdNe, FOrdLt, FOrdLe, FOrdGt,
        FOrdGe, FUnordEq, FUnordNe, FUnordLt, FUnordLe, FUnordGt, FUnordGe, FOrdered, FUnordered,
    }
    ConvertOp: convert, read_convert {
        Trunc, ZExt, SExt, FToU, FToS, UToF, SToF, FToF, Bitcast, PtrToInt, IntToPtr, AddressSpace,
        FToBf16, Bf16ToF, SatSToS, SatSToU, SatUToS, SatUToU, SatFToS, SatFToU,
    }
    Rounding: rounding, read_rounding { Default, Rte, Rtz, Rtp, Rtn }
    MathFn: math, read_math {
        Acos, Acosh, Acospi, Asin, Asinh, Asinpi, Atan, Atan2, Atanh, Atanpi, Atan2pi, Cbrt, Ceil,
        Copysign, Cos, Cosh, Cospi, Erf, Erfc, Exp, Exp2, Exp10, Expm1, Fabs, Fdim, Floor, Fma,
        Fmax, Fmin, Fmod, Hypot, Lgamma, Log, Log2, Log10, Log1p, Logb, Mad, Maxmag, Minmag,
        Nextafter, Pow, Powr, Remainder, Rint, Round, Rsqrt, Sin, Sinh, Sinpi, Sqrt, Tan, Tanh,
        Tanpi, Tgamma, Trunc, NativeCos, NativeDivide, NativeExp, NativeExp2, NativeExp10,
        NativeLog, NativeLog2, NativeLog10, NativePowr, NativeRecip, NativeRsqrt, NativeSin,
        NativeSqrt, NativeTan, Ldexp, Pown, Rootn, Ilogb, FrexpMantissa, FrexpExponent,
        ModfFraction, ModfInteger, Fract, LgammaSign, RemquoQuotient, Nan,
    }
    Builtin: builtin, read_builtin {
        GlobalInvocationId, GlobalSize, GlobalOffset, WorkgroupId, NumWorkgroups,
        LocalInvocationId, WorkgroupSize, EnqueuedWorkgroupSize, GlobalLinearId,
        LocalInvocationIndex, WorkDim, SubgroupSize, SubgroupMaxSize, SubgroupId, NumSubgroups,
        NumEnqueuedSubgroups, SubgroupLocalInvocationId,
    }
    Scope: scope, read_scope { CrossDevice, Device, Workgroup, Subgroup, Invocation }
    Order: order, read_order { Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent }
    AtomicOp: atomic, read_atomic {
        Load, Store, Exchange, CompareExchange, IAdd, ISub, SMin, SMax, UMin, UMax, And, Or, Xor,
        FAdd, FMin, FMax, FlagTestAndSet, FlagClear,
    }
    Reduction: reduction, read_reduction {
        IAdd, IMul, SMin, SMax, UMin, UMax, And, Or, Xor, FAdd, FMul, FMin, FMax, LogicalAnd,
        LogicalOr, LogicalXor,
    }
    AddressSpace: space, read_space { Private, Global, Local, Constant, Generic }
}
