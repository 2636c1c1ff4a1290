//! Vectors of numbers with Rust's operators, in which the functions of this folder are written:
//!
//! ```text
//! let small = (self * self).fma(self.exp_rest(), self);     emits LLVM's fmul and fma on all lanes
//! ```

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use super::code::Mathematics;
use crate::fast_math::{AFN, ARCP, REASSOC};
use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};

/// A vector of floats or doubles.
#[derive(Clone, Copy)]
pub(super) struct Real<'a> {
    pub(super) m: &'a Mathematics<'a>,
    pub(super) v: Val,
}

/// A vector of integers; two's complement, wrapping.
#[derive(Clone, Copy)]
pub(super) struct Whole<'a> {
    pub(super) m: &'a Mathematics<'a>,
    pub(super) v: Val,
}

/// A vector of truth values.
#[derive(Clone, Copy)]
pub(super) struct Truth<'a> {
    pub(super) m: &'a Mathematics<'a>,
    pub(super) v: Val,
}

macro_rules! real_operator {
    ($trait:ident, $name:ident, $op:ident) => {
        impl $trait for Real<'_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.with(self.m.ir.bin(Opcode::$op, self.v, other.v))
            }
        }
        impl $trait<f64> for Real<'_> {
            type Output = Self;
            fn $name(self, other: f64) -> Self {
                self.$name(self.number(other))
            }
        }
        impl<'a> $trait<Real<'a>> for f64 {
            type Output = Real<'a>;
            fn $name(self, other: Real<'a>) -> Real<'a> {
                other.number(self).$name(other)
            }
        }
    };
}
real_operator!(Add, add, LLVMFAdd);
real_operator!(Sub, sub, LLVMFSub);
real_operator!(Mul, mul, LLVMFMul);
real_operator!(Div, div, LLVMFDiv);

macro_rules! whole_operator {
    ($trait:ident, $name:ident, $op:ident) => {
        impl $trait for Whole<'_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.with(self.m.ir.bin(Opcode::$op, self.v, other.v))
            }
        }
        impl $trait<i64> for Whole<'_> {
            type Output = Self;
            fn $name(self, other: i64) -> Self {
                self.$name(self.number(other))
            }
        }
    };
}
whole_operator!(Add, add, LLVMAdd);
whole_operator!(Sub, sub, LLVMSub);
whole_operator!(BitAnd, bitand, LLVMAnd);
whole_operator!(BitOr, bitor, LLVMOr);
whole_operator!(BitXor, bitxor, LLVMXor);

macro_rules! truth_operator {
    ($trait:ident, $name:ident, $op:ident) => {
        impl $trait for Truth<'_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                Self {
                    m: self.m,
                    v: self.m.ir.bin(Opcode::$op, self.v, other.v),
                }
            }
        }
    };
}
truth_operator!(BitAnd, bitand, LLVMAnd);
truth_operator!(BitOr, bitor, LLVMOr);
truth_operator!(BitXor, bitxor, LLVMXor);

impl Neg for Real<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.with(self.m.ir.fneg(self.v))
    }
}

impl Not for Truth<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Self {
            m: self.m,
            v: self.m.ir.not(self.v),
        }
    }
}

impl<'a> Truth<'a> {
    pub(super) fn pick_whole(self, yes: Whole<'a>, no: Whole<'a>) -> Whole<'a> {
        yes.with(self.m.ir.select(self.v, yes.v, no.v))
    }
    pub(super) fn pick(self, yes: Real<'a>, no: Real<'a>) -> Real<'a> {
        yes.with(self.m.ir.select(self.v, yes.v, no.v))
    }
}

impl<'a> Real<'a> {
    pub(super) fn with(self, v: Val) -> Self {
        Self { m: self.m, v }
    }
    pub(super) fn ty(self) -> Ty {
        self.m.ir.type_of(self.v)
    }
    pub(super) fn is_double(self) -> bool {
        self.m.ir.scalar(self.ty()) == self.m.ir.double
    }
    /// Bits of the fraction.
    pub(super) fn fraction(self) -> i64 {
        if self.is_double() { 52 } else { 23 }
    }
    pub(super) fn bias(self) -> i64 {
        if self.is_double() { 1023 } else { 127 }
    }
    /// The constant, rounded to this type.
    pub(super) fn number(self, value: f64) -> Self {
        self.with(self.m.ir.float_const(self.ty(), value))
    }
    /// `f` of the number, in an internal function of the object that other calls of the same name share.
    pub(super) fn out_of_line(
        self,
        name: &str,
        f: impl for<'b> FnOnce(Real<'b>) -> Real<'b>,
    ) -> Self {
        let made = self.m.internal(name, &[self.v], self.ty(), |m, args| {
            f(Real { m, v: args[0] }).v
        });
        // There always is an argument, and it is a vector.
        self.with(made.unwrap_or(self.v))
    }
    /// C's function `name` of the number and `y`, in an internal function of the object.
    pub(super) fn out_of_line2(self, y: Self, name: &'static str) -> Self {
        let made = self.m.internal(name, &[self.v, y.v], self.ty(), |m, args| {
            m.library(name, &[Real { m, v: args[0] }, Real { m, v: args[1] }])
                .v
        });
        self.with(made.unwrap_or(self.v))
    }
    fn unary(self, name: &'static str) -> Self {
        self.with(self.m.ir.intrinsic(name, &[self.ty()], &[self.v]))
    }
    /// Permits the processor to estimate this division or root.
    pub(super) fn estimated(self) -> Self {
        self.m.ir.set_fast(self.v, REASSOC | ARCP | AFN);
        self
    }
    /// self * b + c, rounded once.
    pub(super) fn fma(self, b: Self, c: Self) -> Self {
        let args = [self.v, b.v, c.v];
        self.with(self.m.ir.intrinsic("llvm.fma", &[self.ty()], &args))
    }
    /// self * b + c, rounded once, b a constant.
    pub(super) fn times_plus(self, b: f64, c: Self) -> Self {
        self.fma(self.number(b), c)
    }
    pub(super) fn abs(self) -> Self {
        self.unary("llvm.fabs")
    }
    pub(super) fn sqrt(self) -> Self {
        self.unary("llvm.sqrt")
    }
    pub(super) fn rint(self) -> Self {
        self.unary("llvm.rint")
    }
    pub(super) fn floor(self) -> Self {
        self.unary("llvm.floor")
    }
    pub(super) fn trunc(self) -> Self {
        self.unary("llvm.trunc")
    }
    pub(super) fn sign_of(self, sign: Self) -> Self {
        let args = [self.v, sign.v];
        self.with(self.m.ir.intrinsic("llvm.copysign", &[self.ty()], &args))
    }
    /// The number, negated where `n` has the bit `mask`.
    pub(super) fn negated_by(self, n: Whole<'a>, mask: i64) -> Self {
        let bits = n.sized(self) & mask;
        let place = i64::from(mask.trailing_zeros());
        let sign = bits.shl(self.fraction() + self.exponent_bits() - place);
        (self.bits() ^ sign).as_real(self)
    }
    pub(super) fn exponent_bits(self) -> i64 {
        if self.is_double() { 11 } else { 8 }
    }
    fn compare(self, predicate: RealPred, other: Self) -> Truth<'a> {
        Truth {
            m: self.m,
            v: self.m.ir.fcmp(predicate, self.v, other.v),
        }
    }
    pub(super) fn less(self, other: Self) -> Truth<'a> {
        self.compare(RealPred::LLVMRealOLT, other)
    }
    pub(super) fn below(self, other: f64) -> Truth<'a> {
        self.less(self.number(other))
    }
    pub(super) fn above(self, other: f64) -> Truth<'a> {
        self.number(other).less(self)
    }
    pub(super) fn equal(self, other: Self) -> Truth<'a> {
        self.compare(RealPred::LLVMRealOEQ, other)
    }
    pub(super) fn is(self, other: f64) -> Truth<'a> {
        self.equal(self.number(other))
    }
    pub(super) fn is_nan(self) -> Truth<'a> {
        self.compare(RealPred::LLVMRealUNO, self)
    }
    pub(super) fn either_nan(self, other: Self) -> Truth<'a> {
        self.compare(RealPred::LLVMRealUNO, other)
    }
    /// At least `low`, at most `high`; NaN stays. The order of operands is that of a single instruction.
    pub(super) fn clamp(self, low: f64, high: f64) -> Self {
        let (low, high) = (self.number(low), self.number(high));
        let v = self.less(low).pick(low, self);
        high.less(v).pick(high, v)
    }
    pub(super) fn at_most(self, high: f64) -> Self {
        let high = self.number(high);
        high.less(self).pick(high, self)
    }
    /// The bits, as integers of the same size.
    pub(super) fn bits(self) -> Whole<'a> {
        let ir = self.m.ir;
        let int = if self.is_double() { ir.i64 } else { ir.i32 };
        Whole {
            m: self.m,
            v: ir.cast(Opcode::LLVMBitCast, self.v, ir.shaped(int, self.ty())),
        }
    }
    /// The polynomial c0 + x (c1 + x (c2 + ...)); long ones in two chains.
    pub(super) fn series(self, coefficients: &[f64]) -> Self {
        if coefficients.len() < 6 {
            return self.chain(coefficients);
        }
        let square = self * self;
        let half = |start: usize| -> Vec<f64> {
            coefficients
                .iter()
                .skip(start)
                .step_by(2)
                .copied()
                .collect()
        };
        let even = square.chain(&half(0));
        let odd = square.chain(&half(1));
        odd.fma(self, even)
    }
    fn chain(self, coefficients: &[f64]) -> Self {
        let mut terms = coefficients.iter().rev().map(|&c| self.number(c));
        let first = terms.next().unwrap_or_else(|| self.number(0.0));
        terms.fold(first, |all, c| all.fma(self, c))
    }
    /// The nearest integers, in 32 bits and as numbers, for |self| < 2^31.
    pub(super) fn nearest(self) -> (Whole<'a>, Self) {
        let ir = self.m.ir;
        let int = ir.shaped(ir.i32, self.ty());
        let n = ir.intrinsic("llvm.lrint", &[int, self.ty()], &[self.v]);
        let n = Whole { m: self.m, v: n };
        (n, n.real(self))
    }
    pub(super) fn to_double(self) -> Self {
        let ir = self.m.ir;
        self.with(ir.cast(Opcode::LLVMFPExt, self.v, ir.shaped(ir.double, self.ty())))
    }
    pub(super) fn round_to(self, ty: Ty) -> Self {
        self.with(self.m.ir.cast(Opcode::LLVMFPTrunc, self.v, ty))
    }
}

impl<'a> Whole<'a> {
    pub(super) fn with(self, v: Val) -> Self {
        Self { m: self.m, v }
    }
    fn ty(self) -> Ty {
        self.m.ir.type_of(self.v)
    }
    pub(super) fn number(self, value: i64) -> Self {
        self.with(self.m.ir.int_const(self.ty(), value as u64))
    }
    pub(super) fn shl(self, by: i64) -> Self {
        self.with(self.m.ir.shl(self.v, self.number(by).v))
    }
    pub(super) fn lshr(self, by: i64) -> Self {
        self.with(self.m.ir.lshr(self.v, self.number(by).v))
    }
    pub(super) fn ashr(self, by: i64) -> Self {
        let by = self.number(by).v;
        self.with(self.m.ir.bin(Opcode::LLVMAShr, self.v, by))
    }
    fn compare(self, predicate: IntPred, other: Self) -> Truth<'a> {
        Truth {
            m: self.m,
            v: self.m.ir.icmp(predicate, self.v, other.v),
        }
    }
    pub(super) fn is(self, other: i64) -> Truth<'a> {
        self.compare(IntPred::LLVMIntEQ, self.number(other))
    }
    pub(super) fn less(self, other: i64) -> Truth<'a> {
        self.compare(IntPred::LLVMIntSLT, self.number(other))
    }
    pub(super) fn below_unsigned(self, other: i64) -> Truth<'a> {
        self.compare(IntPred::LLVMIntULT, self.number(other))
    }
    pub(super) fn bit(self, mask: i64) -> Truth<'a> {
        !(self & mask).is(0)
    }
    pub(super) fn clamp(self, low: i64, high: i64) -> Self {
        let low = self.number(low);
        let high = self.number(high);
        let v = self.compare(IntPred::LLVMIntSLT, low).pick_whole(low, self);
        high.compare(IntPred::LLVMIntSLT, v).pick_whole(high, v)
    }
    /// The low 32 bits.
    pub(super) fn low(self) -> Self {
        let ir = self.m.ir;
        if ir.scalar(self.ty()) == ir.i32 {
            return self;
        }
        let narrow = ir.shaped(ir.i32, self.ty());
        self.with(ir.cast(Opcode::LLVMTrunc, self.v, narrow))
    }
    /// The integers as numbers of `like`'s type.
    pub(super) fn real(self, like: Real<'a>) -> Real<'a> {
        like.with(self.m.ir.cast(Opcode::LLVMSIToFP, self.v, like.ty()))
    }
    /// The numbers of `like`'s type that have these bits.
    pub(super) fn as_real(self, like: Real<'a>) -> Real<'a> {
        like.with(self.m.ir.cast(Opcode::LLVMBitCast, self.v, like.ty()))
    }
    /// The integers, sign-extended to the size of `like`'s numbers.
    pub(super) fn sized(self, like: Real<'a>) -> Self {
        let ir = self.m.ir;
        if !like.is_double() || ir.scalar(self.ty()) == ir.i64 {
            return self;
        }
        let wide = ir.shaped(ir.i64, self.ty());
        self.with(ir.cast(Opcode::LLVMSExt, self.v, wide))
    }
}
