//! OpenCL.std: mathematical, common and geometric functions. Functions without an operation in the IR are composed of
//! others here, so that back ends have few operations.

use super::fault::{Res, invalid};
use super::lower::Lower;
use crate::{BinaryOp, ConvertOp, MathFn, Op, Predicate, Type, UnaryOp, ValueId};
use spirv_reader::{OpenClStd as Cl, Operands};

/// The operation of a function, and its number of operands.
fn direct(inst: Cl) -> Option<(MathFn, usize)> {
    Some(match inst {
        Cl::Acos => (MathFn::Acos, 1),
        Cl::Acosh => (MathFn::Acosh, 1),
        Cl::Acospi => (MathFn::Acospi, 1),
        Cl::Asin => (MathFn::Asin, 1),
        Cl::Asinh => (MathFn::Asinh, 1),
        Cl::Asinpi => (MathFn::Asinpi, 1),
        Cl::Atan => (MathFn::Atan, 1),
        Cl::Atan2 => (MathFn::Atan2, 2),
        Cl::Atanh => (MathFn::Atanh, 1),
        Cl::Atanpi => (MathFn::Atanpi, 1),
        Cl::Atan2pi => (MathFn::Atan2pi, 2),
        Cl::Cbrt => (MathFn::Cbrt, 1),
        Cl::Ceil => (MathFn::Ceil, 1),
        Cl::Copysign => (MathFn::Copysign, 2),
        Cl::Cos => (MathFn::Cos, 1),
        Cl::Cosh => (MathFn::Cosh, 1),
        Cl::Cospi => (MathFn::Cospi, 1),
        Cl::Erfc => (MathFn::Erfc, 1),
        Cl::Erf => (MathFn::Erf, 1),
        Cl::Exp | Cl::HalfExp => (MathFn::Exp, 1),
        Cl::Exp2 | Cl::HalfExp2 => (MathFn::Exp2, 1),
        Cl::Exp10 | Cl::HalfExp10 => (MathFn::Exp10, 1),
        Cl::Expm1 => (MathFn::Expm1, 1),
        Cl::Fabs => (MathFn::Fabs, 1),
        Cl::Fdim => (MathFn::Fdim, 2),
        Cl::Floor => (MathFn::Floor, 1),
        Cl::Fma => (MathFn::Fma, 3),
        Cl::Fmax | Cl::FmaxCommon => (MathFn::Fmax, 2),
        Cl::Fmin | Cl::FminCommon => (MathFn::Fmin, 2),
        Cl::Fmod => (MathFn::Fmod, 2),
        Cl::Hypot => (MathFn::Hypot, 2),
        Cl::Ilogb => (MathFn::Ilogb, 1),
        Cl::Ldexp => (MathFn::Ldexp, 2),
        Cl::Lgamma => (MathFn::Lgamma, 1),
        Cl::Log | Cl::HalfLog => (MathFn::Log, 1),
        Cl::Log2 | Cl::HalfLog2 => (MathFn::Log2, 1),
        Cl::Log10 | Cl::HalfLog10 => (MathFn::Log10, 1),
        Cl::Log1p => (MathFn::Log1p, 1),
        Cl::Logb => (MathFn::Logb, 1),
        Cl::Mad => (MathFn::Mad, 3),
        Cl::Maxmag => (MathFn::Maxmag, 2),
        Cl::Minmag => (MathFn::Minmag, 2),
        Cl::Nan => (MathFn::Nan, 1),
        Cl::Nextafter => (MathFn::Nextafter, 2),
        Cl::Pow => (MathFn::Pow, 2),
        Cl::Pown => (MathFn::Pown, 2),
        Cl::Powr => (MathFn::Powr, 2),
        Cl::Remainder => (MathFn::Remainder, 2),
        Cl::Rint => (MathFn::Rint, 1),
        Cl::Rootn => (MathFn::Rootn, 2),
        Cl::Round => (MathFn::Round, 1),
        Cl::Rsqrt => (MathFn::Rsqrt, 1),
        Cl::Sin => (MathFn::Sin, 1),
        Cl::Sinh => (MathFn::Sinh, 1),
        Cl::Sinpi => (MathFn::Sinpi, 1),
        Cl::Sqrt | Cl::HalfSqrt => (MathFn::Sqrt, 1),
        Cl::Tan => (MathFn::Tan, 1),
        Cl::Tanh => (MathFn::Tanh, 1),
        Cl::Tanpi => (MathFn::Tanpi, 1),
        Cl::Tgamma => (MathFn::Tgamma, 1),
        Cl::Trunc => (MathFn::Trunc, 1),
        Cl::NativeCos | Cl::HalfCos => (MathFn::NativeCos, 1),
        Cl::NativeDivide => (MathFn::NativeDivide, 2),
        Cl::NativeExp => (MathFn::NativeExp, 1),
        Cl::NativeExp2 => (MathFn::NativeExp2, 1),
        Cl::NativeExp10 => (MathFn::NativeExp10, 1),
        Cl::NativeLog => (MathFn::NativeLog, 1),
        Cl::NativeLog2 => (MathFn::NativeLog2, 1),
        Cl::NativeLog10 => (MathFn::NativeLog10, 1),
        Cl::NativePowr | Cl::HalfPowr => (MathFn::NativePowr, 2),
        Cl::NativeRecip => (MathFn::NativeRecip, 1),
        Cl::NativeRsqrt | Cl::HalfRsqrt => (MathFn::NativeRsqrt, 1),
        Cl::NativeSin | Cl::HalfSin => (MathFn::NativeSin, 1),
        Cl::NativeSqrt => (MathFn::NativeSqrt, 1),
        Cl::NativeTan | Cl::HalfTan => (MathFn::NativeTan, 1),
        _ => return None,
    })
}

/// Functions with a second result through a pointer: the result and the stored value.
fn two_results(inst: Cl) -> Option<(MathFn, MathFn)> {
    Some(match inst {
        Cl::Fract => (MathFn::Fract, MathFn::Floor),
        Cl::Frexp => (MathFn::FrexpMantissa, MathFn::FrexpExponent),
        Cl::LgammaR => (MathFn::Lgamma, MathFn::LgammaSign),
        Cl::Modf => (MathFn::ModfFraction, MathFn::ModfInteger),
        Cl::Remquo => (MathFn::Remainder, MathFn::RemquoQuotient),
        Cl::Sincos => (MathFn::Sin, MathFn::Cos),
        _ => return None,
    })
}

fn gives_int(function: MathFn) -> bool {
    matches!(
        function,
        MathFn::Ilogb | MathFn::FrexpExponent | MathFn::LgammaSign | MathFn::RemquoQuotient
    )
}

impl Lower<'_, '_> {
    /// Lowers an instruction of OpenCL.std; none if it has no result.
    pub(super) fn opencl(
        &mut self,
        inst: Cl,
        ty: u32,
        id: u32,
        operands: &mut Operands<'_>,
    ) -> Res<Option<ValueId>> {
        let fast = self.flags(id).fast;
        if let Some((function, count)) = direct(inst) {
            let args = self.all(operands.rest())?;
            if args.len() != count {
                return invalid(format!("{} operands, it has {count}", args.len()));
            }
            let args = self.as_wide(args);
            let ir = if function == MathFn::Nan {
                self.value_type(ty)?
            } else {
                self.math_type(function, &args)?
            };
            let flags = crate::Flags {
                fast,
                ..crate::Flags::default()
            };
            return Ok(Some(self.emit(Op::Math(function, args, flags), ir)));
        }
        if let Some((first, second)) = two_results(inst) {
            let mut args = self.all(operands.rest())?;
            let Some(ptr) = args.pop().filter(|_| !args.is_empty()) else {
                return invalid("the pointer operand is missing");
            };
            if !matches!(self.module.types.get(self.f.ty(ptr)), Type::Ptr(_)) {
                return invalid("the last operand is no pointer");
            }
            let flags = crate::Flags {
                fast,
                ..crate::Flags::default()
            };
            let ir = self.math_type(second, &args)?;
            let stored = self.emit(Op::Math(second, args.clone(), flags), ir);
            let align = self.natural(ir);
            self.store(ptr, stored, align);
            let ir = self.math_type(first, &args)?;
            return Ok(Some(self.emit(Op::Math(first, args, flags), ir)));
        }
        if let Some(value) = self.in_memory(inst, ty, operands)? {
            return Ok(value);
        }
        let args = self.all(operands.rest())?;
        let args = self.as_wide(args);
        if let Some(value) = self.integer(inst, ty, &args)? {
            return Ok(Some(value));
        }
        self.common(inst, &args, fast).map(Some)
    }

    /// Splats scalar operands beside vectors: clang emits such overloads of OpenCL C unchanged.
    fn as_wide(&mut self, mut args: Vec<ValueId>) -> Vec<ValueId> {
        let vector = args.iter().copied().find(|&arg| self.lane_count(arg) > 1);
        if let Some(vector) = vector {
            for arg in &mut args {
                if self.lane_count(*arg) == 1 {
                    *arg = self.splat_like(*arg, vector);
                }
            }
        }
        args
    }

    /// The result type of `function` for `args`.
    fn math_type(&mut self, function: MathFn, args: &[ValueId]) -> Res<crate::TypeId> {
        let Some(&first) = args.first() else {
            return invalid("no operands");
        };
        Ok(if gives_int(function) {
            self.like(first, |types| types.int(32))
        } else {
            self.f.ty(first)
        })
    }

    /// Alignment of the scalars in `ty`.
    pub(super) fn natural(&self, ty: crate::TypeId) -> u64 {
        let scalar = self.module.types.scalar_of(ty).unwrap_or(ty);
        self.module.types.align_of(scalar)
    }

    fn common(&mut self, inst: Cl, args: &[ValueId], fast: u32) -> Res<ValueId> {
        let Some(&first) = args.first() else {
            return invalid("no operands");
        };
        self.float_bits(first)?;
        let ty = self.f.ty(first);
        let same = args.iter().all(|&a| self.f.ty(a) == ty);
        if !same {
            return invalid("operands of different types");
        }
        use BinaryOp::{FAdd, FDiv, FMul, FSub};
        Ok(match (inst, args) {
            (Cl::HalfDivide, &[a, b]) => self.float(FDiv, a, b, fast),
            (Cl::HalfRecip, &[a]) => {
                let one = self.float_of(ty, 1.0);
                self.float(FDiv, one, a, fast)
            }
            (Cl::Fclamp, &[a, low, high]) => {
                let a = self.math(MathFn::Fmax, vec![a, low], fast);
                self.math(MathFn::Fmin, vec![a, high], fast)
            }
            (Cl::Degrees, &[a]) => {
                let factor = self.float_of(ty, 180.0 / std::f64::consts::PI);
                self.float(FMul, a, factor, fast)
            }
            (Cl::Radians, &[a]) => {
                let factor = self.float_of(ty, std::f64::consts::PI / 180.0);
                self.float(FMul, a, factor, fast)
            }
            (Cl::Mix, &[a, b, t]) => {
                let span = self.float(FSub, b, a, fast);
                let part = self.float(FMul, span, t, fast);
                self.float(FAdd, a, part, fast)
            }
            (Cl::Step, &[edge, a]) => {
                let (zero, one) = (self.float_of(ty, 0.0), self.float_of(ty, 1.0));
                let less = self.compare(Predicate::FOrdLt, a, edge);
                self.select(less, zero, one)
            }
            (Cl::Smoothstep, &[from, to, a]) => {
                let (zero, one) = (self.float_of(ty, 0.0), self.float_of(ty, 1.0));
                let (two, three) = (self.float_of(ty, 2.0), self.float_of(ty, 3.0));
                let above = self.float(FSub, a, from, fast);
                let span = self.float(FSub, to, from, fast);
                let t = self.float(FDiv, above, span, fast);
                let t = self.math(MathFn::Fmax, vec![t, zero], fast);
                let t = self.math(MathFn::Fmin, vec![t, one], fast);
                let square = self.float(FMul, t, t, fast);
                let twice = self.float(FMul, two, t, fast);
                let rest = self.float(FSub, three, twice, fast);
                self.float(FMul, square, rest, fast)
            }
            (Cl::Sign, &[a]) => {
                let zero = self.float_of(ty, 0.0);
                let (one, minus) = (self.float_of(ty, 1.0), self.float_of(ty, -1.0));
                let nan = self.unary(UnaryOp::IsNan, a);
                // Preserves the sign of zero.
                let value = self.select(nan, zero, a);
                let negative = self.compare(Predicate::FOrdLt, a, zero);
                let value = self.select(negative, minus, value);
                let positive = self.compare(Predicate::FOrdGt, a, zero);
                self.select(positive, one, value)
            }
            (Cl::Cross, &[a, b]) => self.cross(a, b, fast)?,
            (Cl::Distance, &[a, b]) => {
                let span = self.float(FSub, a, b, fast);
                self.length(span)?.0
            }
            (Cl::Length, &[a]) => self.length(a)?.0,
            (Cl::Normalize, &[a]) => self.length(a)?.1,
            (Cl::FastDistance, &[a, b]) => {
                let span = self.float(FSub, a, b, fast);
                let dot = self.dot(span, span, fast);
                self.math(MathFn::Sqrt, vec![dot], fast)
            }
            (Cl::FastLength, &[a]) => {
                let dot = self.dot(a, a, fast);
                self.math(MathFn::Sqrt, vec![dot], fast)
            }
            (Cl::FastNormalize, &[a]) => {
                let dot = self.dot(a, a, fast);
                let zero = self.float_of(self.f.ty(dot), 0.0);
                let none = self.compare(Predicate::FOrdEq, dot, zero);
                let factor = self.math(MathFn::Rsqrt, vec![dot], fast);
                let factor = self.splat_like(factor, a);
                let scaled = self.float(FMul, a, factor, fast);
                self.select(none, a, scaled)
            }
            _ => return invalid(format!("{} operands are too few or too many", args.len())),
        })
    }

    fn cross(&mut self, a: ValueId, b: ValueId, fast: u32) -> Res<ValueId> {
        let (la, lb) = (self.lanes(a), self.lanes(b));
        let (&[ax, ay, az, ..], &[bx, by, bz, ..]) = (la.as_slice(), lb.as_slice()) else {
            return invalid("the operands are vectors of 3 or 4 components");
        };
        let mut minor = |a: ValueId, b: ValueId, c: ValueId, d: ValueId| {
            let ad = self.float(BinaryOp::FMul, a, d, fast);
            let bc = self.float(BinaryOp::FMul, b, c, fast);
            self.float(BinaryOp::FSub, ad, bc, fast)
        };
        let mut lanes = vec![
            minor(ay, az, by, bz),
            minor(az, ax, bz, bx),
            minor(ax, ay, bx, by),
        ];
        if la.len() == 4 {
            let scalar = self.f.ty(ax);
            lanes.push(self.float_of(scalar, 0.0));
        }
        if la.len() > 4 || la.len() != lb.len() {
            return invalid("the operands are vectors of 3 or 4 components");
        }
        Ok(self.join(lanes))
    }

    /// Length and direction of `a`, without overflow in between.
    fn length(&mut self, a: ValueId) -> Res<(ValueId, ValueId)> {
        let ty = self.f.ty(a);
        let bits = self.float_bits(a)?;
        let scalar = self.module.types.float(bits);
        let double = self.module.types.float(64);
        // Squares of narrower floats neither overflow nor underflow in a double.
        let (wide, largest) = if bits < 64 {
            let wide_ty = self.like(a, |types| types.float(64));
            (self.convert(ConvertOp::FToF, a, wide_ty), None)
        } else {
            let lanes = self.lanes(a);
            let mut largest = self.float_of(double, 0.0);
            for lane in lanes {
                let size = self.math(MathFn::Fabs, vec![lane], 0);
                largest = self.math(MathFn::Fmax, vec![largest, size], 0);
            }
            let zero = self.float_of(double, 0.0);
            let one = self.float_of(double, 1.0);
            let finite = self.unary(UnaryOp::IsFinite, largest);
            let some = self.compare(Predicate::FOrdGt, largest, zero);
            let usable = self.binary(BinaryOp::And, finite, some);
            let scale = self.select(usable, largest, one);
            let spread = self.splat_like(scale, a);
            (self.float(BinaryOp::FDiv, a, spread, 0), Some(scale))
        };
        let dot = self.dot(wide, wide, 0);
        let root = self.math(MathFn::Sqrt, vec![dot], 0);
        let zero = self.float_of(double, 0.0);
        let none = self.compare(Predicate::FOrdEq, root, zero);
        let spread = self.splat_like(root, a);
        let direction = self.float(BinaryOp::FDiv, wide, spread, 0);
        let (length, direction) = match largest {
            Some(scale) => (self.float(BinaryOp::FMul, root, scale, 0), direction),
            None => (
                self.convert(ConvertOp::FToF, root, scalar),
                self.convert(ConvertOp::FToF, direction, ty),
            ),
        };
        Ok((length, self.select(none, a, direction)))
    }
}
