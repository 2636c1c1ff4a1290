//! Mathematics: instructions where there are any, else C's library on each lane, and compositions for functions that C
//! lacks. Compositions for 32 bits compute in doubles, so that only one rounding is left.

use kernel_ir::{BuildError, Flags, MathFn};

use crate::llvm::{IntPred, Opcode, RealPred, Ty, Val};
use crate::lower::{Lower, unsupported};
use crate::mathematics::Mathematics;

impl Lower<'_> {
    pub(crate) fn math(
        &self,
        math: MathFn,
        args: &[Val],
        flags: Flags,
        result: Ty,
        word: u32,
    ) -> Result<Val, BuildError> {
        let Some(&first) = args.first() else {
            return Err(unsupported(word, format!("{math:?} without operands")));
        };
        let wants = match math {
            MathFn::Fma | MathFn::Mad => 3,
            MathFn::Atan2
            | MathFn::Atan2pi
            | MathFn::Copysign
            | MathFn::Fdim
            | MathFn::Fmax
            | MathFn::Fmin
            | MathFn::Fmod
            | MathFn::Hypot
            | MathFn::Maxmag
            | MathFn::Minmag
            | MathFn::Nextafter
            | MathFn::Pow
            | MathFn::Powr
            | MathFn::Remainder
            | MathFn::NativeDivide
            | MathFn::NativePowr
            | MathFn::Ldexp
            | MathFn::Pown
            | MathFn::Rootn
            | MathFn::RemquoQuotient => 2,
            _ => 1,
        };
        if args.len() != wants {
            return Err(unsupported(
                word,
                format!("{math:?} with {} operands; it takes {wants}", args.len()),
            ));
        }
        if math == MathFn::Nan {
            return Ok(self.nan(first, result));
        }
        // 16-bit floats are a storage form: compute wider, round once.
        let ty = self.ir.type_of(first);
        if self.ir.scalar(ty) == self.ir.half
            && !matches!(math, MathFn::Fabs | MathFn::Copysign | MathFn::Nextafter)
        {
            let wide_ty = self.ir.shaped(self.ir.float, ty);
            let wide: Vec<Val> = args
                .iter()
                .map(|&a| {
                    if self.ir.scalar(self.ir.type_of(a)) == self.ir.half {
                        self.ir.cast(Opcode::LLVMFPExt, a, wide_ty)
                    } else {
                        a
                    }
                })
                .collect();
            if math == MathFn::Fma || math == MathFn::Mad {
                return Ok(self.half_fma(&wide, result));
            }
            let result_is_int = self.ir.scalar(result) != self.ir.half;
            let wide_result = if result_is_int { result } else { wide_ty };
            let v = self.math_of(math, &wide, flags, wide_result);
            if result_is_int {
                return Ok(v);
            }
            let v = self.ir.cast(Opcode::LLVMFPTrunc, v, result);
            if math != MathFn::Fract {
                return Ok(v);
            }
            // The largest half below one, because rounding may have carried up to one.
            let one = self.ir.float_const(result, 1.0);
            let below = self.ir.float_const(result, 1.0 - f64::powi(2.0, -11));
            let carried = self.ir.fcmp(RealPred::LLVMRealOEQ, v, one);
            return Ok(self.ir.select(carried, below, v));
        }
        Ok(self.math_of(math, args, flags, result))
    }

    /// A fused multiply-add of halves, exact in f64 except for the sum, which is rounded to odd by its error term
    /// before the last rounding.
    fn half_fma(&self, wide: &[Val], result: Ty) -> Val {
        let ir = self.ir;
        let double = ir.shaped(ir.double, result);
        let v: Vec<Val> = wide
            .iter()
            .map(|&v| ir.cast(Opcode::LLVMFPExt, v, double))
            .collect();
        let product = ir.bin(Opcode::LLVMFMul, v[0], v[1]);
        let sum = ir.bin(Opcode::LLVMFAdd, product, v[2]);
        // Two-sum: sum + error is exact.
        let part = ir.bin(Opcode::LLVMFSub, sum, product);
        let rest = ir.bin(Opcode::LLVMFSub, sum, part);
        let error = ir.bin(
            Opcode::LLVMFAdd,
            ir.bin(Opcode::LLVMFSub, product, rest),
            ir.bin(Opcode::LLVMFSub, v[2], part),
        );
        let int = ir.shaped(ir.i64, double);
        let bits = ir.cast(Opcode::LLVMBitCast, sum, int);
        let zero = ir.null(double);
        let inexact = ir.fcmp(RealPred::LLVMRealONE, error, zero);
        let away = ir.xor(
            ir.fcmp(RealPred::LLVMRealOLT, error, zero),
            ir.fcmp(RealPred::LLVMRealOLT, sum, zero),
        );
        let one = ir.int_const(int, 1);
        let truncated = ir.select(away, ir.sub(bits, one), bits);
        let odd = ir.select(inexact, ir.or(truncated, one), bits);
        let odd = ir.cast(Opcode::LLVMBitCast, odd, double);
        self.float_to_float(odd, kernel_ir::Rounding::Rte, result)
    }

    fn math_of(&self, math: MathFn, args: &[Val], flags: Flags, result: Ty) -> Val {
        use MathFn as M;
        let ir = self.ir;
        let lanes = Mathematics {
            ir,
            function: self.llvm_function,
            registers: self.target.vector_bytes(),
        };
        if let Some(v) = lanes.vector(math, args, result) {
            return v;
        }
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(a);
        let ty = ir.type_of(a);
        let number = |v: f64| ir.float_const(ty, v);
        let op = |opcode: Opcode, a: Val, b: Val| self.fast(ir.bin(opcode, a, b), flags);
        let call = |name: &'static str, args: &[Val]| {
            self.fast(ir.intrinsic(name, &[ir.type_of(args[0])], args), flags)
        };
        let c = |name: &str| self.per_lane(name, &[a], ty);
        let c2 = |name: &str| self.per_lane(name, &[a, b], ty);
        // In doubles for 32-bit operands: only one rounding is left, at the end.
        let wide = |v: Val| ir.cast(Opcode::LLVMFPExt, v, ir.shaped(ir.double, ty));
        let narrow = |v: Val| ir.cast(Opcode::LLVMFPTrunc, v, ty);
        let scaled = |name: &str, factor: f64| {
            let v = self.per_lane(name, &[wide(a)], ir.type_of(wide(a)));
            let factor = ir.float_const(ir.type_of(v), factor);
            narrow(ir.bin(Opcode::LLVMFMul, v, factor))
        };
        match math {
            M::Acos => c("acos"),
            M::Acosh => c("acosh"),
            M::Asin => c("asin"),
            M::Asinh => c("asinh"),
            M::Atan => c("atan"),
            M::Atanh => c("atanh"),
            M::Atan2 => c2("atan2"),
            M::Acospi => scaled("acos", std::f64::consts::FRAC_1_PI),
            M::Asinpi => scaled("asin", std::f64::consts::FRAC_1_PI),
            M::Atanpi => scaled("atan", std::f64::consts::FRAC_1_PI),
            M::Atan2pi => {
                let v = self.per_lane("atan2", &[wide(a), wide(b)], ir.type_of(wide(a)));
                let factor = ir.float_const(ir.type_of(v), std::f64::consts::FRAC_1_PI);
                narrow(ir.bin(Opcode::LLVMFMul, v, factor))
            }
            M::Cbrt => c("cbrt"),
            M::Ceil => call("llvm.ceil", &[a]),
            M::Floor => call("llvm.floor", &[a]),
            M::Trunc => call("llvm.trunc", &[a]),
            M::Rint => call("llvm.rint", &[a]),
            M::Round => call("llvm.round", &[a]),
            M::Fabs => call("llvm.fabs", &[a]),
            M::Copysign => call("llvm.copysign", &[a, b]),
            M::Fmax => call("llvm.maxnum", &[a, b]),
            M::Fmin => call("llvm.minnum", &[a, b]),
            M::Fma | M::Mad => call("llvm.fma", args),
            M::Sqrt | M::NativeSqrt => call("llvm.sqrt", &[a]),
            M::Rsqrt | M::NativeRsqrt => {
                let root = call("llvm.sqrt", &[a]);
                op(Opcode::LLVMFDiv, number(1.0), root)
            }
            M::NativeDivide => op(Opcode::LLVMFDiv, a, b),
            M::NativeRecip => op(Opcode::LLVMFDiv, number(1.0), a),
            M::Cos | M::NativeCos => c("cos"),
            M::Sin | M::NativeSin => c("sin"),
            M::Tan | M::NativeTan => c("tan"),
            M::Cosh => c("cosh"),
            M::Sinh => c("sinh"),
            M::Tanh => c("tanh"),
            M::Erf => c("erf"),
            M::Erfc => c("erfc"),
            M::Exp | M::NativeExp => c("exp"),
            M::Exp2 | M::NativeExp2 => c("exp2"),
            M::Expm1 => c("expm1"),
            M::Exp10 | M::NativeExp10 => {
                let w = wide(a);
                let ten = ir.float_const(ir.type_of(w), 10.0);
                narrow(self.per_lane("pow", &[ten, w], ir.type_of(w)))
            }
            M::Log | M::NativeLog => c("log"),
            M::Log2 | M::NativeLog2 => c("log2"),
            M::Log10 | M::NativeLog10 => c("log10"),
            M::Log1p => c("log1p"),
            M::Logb => c("logb"),
            M::Fdim => c2("fdim"),
            M::Fmod => c2("fmod"),
            M::Hypot => c2("hypot"),
            M::Nextafter => self.nextafter(a, b),
            M::Remainder => c2("remainder"),
            M::Lgamma => c("lgamma"),
            M::Tgamma => c("tgamma"),
            M::LgammaSign => self.gamma_sign(a, result),
            M::Maxmag | M::Minmag => {
                let (x, y) = (call("llvm.fabs", &[a]), call("llvm.fabs", &[b]));
                let (name, predicate) = if math == M::Maxmag {
                    ("llvm.maxnum", RealPred::LLVMRealOGT)
                } else {
                    ("llvm.minnum", RealPred::LLVMRealOLT)
                };
                let neither = call(name, &[a, b]);
                let second = ir.select(ir.fcmp(predicate, y, x), b, neither);
                ir.select(ir.fcmp(predicate, x, y), a, second)
            }
            M::Pow => c2("pow"),
            M::Powr | M::NativePowr => self.powr(a, b),
            M::Pown => {
                let exponent = ir.cast(Opcode::LLVMSIToFP, b, ir.type_of(wide(a)));
                narrow(self.per_lane("pow", &[wide(a), exponent], ir.type_of(wide(a))))
            }
            M::Rootn => narrow(self.rootn(wide(a), b)),
            M::Cospi | M::Sinpi | M::Tanpi => narrow(self.turn(math, wide(a))),
            M::Ldexp => self.per_lane("ldexp", &[a, b], ty),
            M::Ilogb => {
                let v = self.per_lane("ilogb", &[a], result);
                let nan = ir.fcmp(RealPred::LLVMRealUNO, a, a);
                ir.select(nan, ir.int_const(result, 0x7fff_ffff), v)
            }
            M::FrexpMantissa => self.through_memory("frexp", &[a], ir.i32, ty, None),
            M::FrexpExponent => self.through_memory("frexp", &[a], ir.i32, ty, Some(result)),
            M::RemquoQuotient => self.remquo(a, b, result),
            M::ModfInteger => call("llvm.trunc", &[a]),
            M::ModfFraction => {
                let rest = ir.bin(Opcode::LLVMFSub, a, call("llvm.trunc", &[a]));
                let rest = ir.select(self.is_infinite(a), number(0.0), rest);
                call("llvm.copysign", &[rest, a])
            }
            M::Fract => {
                let rest = ir.bin(Opcode::LLVMFSub, a, call("llvm.floor", &[a]));
                // The largest value below one.
                let limit = match self.float_width(ty) {
                    64 => number(f64::from_bits(0x3fef_ffff_ffff_ffff)),
                    _ => number(f64::from(f32::from_bits(0x3f7f_ffff))),
                };
                let capped = ir.fcmp(RealPred::LLVMRealOGT, rest, limit);
                let rest = ir.select(capped, limit, rest);
                let zero = call("llvm.copysign", &[number(0.0), a]);
                ir.select(self.is_infinite(a), zero, rest)
            }
            M::Nan => a,
        }
    }

    fn is_infinite(&self, v: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(v);
        let magnitude = ir.intrinsic("llvm.fabs", &[ty], &[v]);
        ir.fcmp(
            RealPred::LLVMRealOEQ,
            magnitude,
            ir.float_const(ty, f64::INFINITY),
        )
    }

    fn nan(&self, payload: Val, result: Ty) -> Val {
        let ir = self.ir;
        let int = ir.type_of(payload);
        let (fraction, quiet) = match self.float_width(result) {
            16 => (0x1ff, 0x7e00),
            64 => (0x7_ffff_ffff_ffff, 0x7ff8_0000_0000_0000),
            _ => (0x3f_ffff, 0x7fc0_0000),
        };
        let bits = ir.or(
            ir.and(payload, ir.int_const(int, fraction)),
            ir.int_const(int, quiet),
        );
        ir.cast(Opcode::LLVMBitCast, bits, result)
    }

    /// A function of C's library on each lane; `name` is the double's.
    pub(crate) fn per_lane(&self, name: &str, args: &[Val], result: Ty) -> Val {
        let ir = self.ir;
        let float = ir.scalar(ir.type_of(args[0]));
        if float == ir.half {
            let wide = ir.shaped(ir.float, ir.type_of(args[0]));
            let args: Vec<Val> = args
                .iter()
                .map(|&a| ir.cast(Opcode::LLVMFPExt, a, wide))
                .collect();
            let v = self.per_lane(name, &args, wide);
            return ir.cast(Opcode::LLVMFPTrunc, v, result);
        }
        let symbol = if float == ir.float {
            format!("{name}f")
        } else {
            name.to_owned()
        };
        let params: Vec<Ty> = args.iter().map(|&a| ir.scalar(ir.type_of(a))).collect();
        let (function, ty) = ir.pure_external(&symbol, ir.scalar(result), &params);
        self.each_element(args, result, |args| ir.call(function, ty, args))
    }

    pub(crate) fn per_lane2(&self, name: &str, a: Val, b: Val) -> Val {
        self.per_lane(name, &[a, b], self.ir.type_of(a))
    }

    /// Applies `f` to the scalars of each lane.
    fn each_element(&self, args: &[Val], result: Ty, f: impl Fn(&[Val]) -> Val) -> Val {
        let ir = self.ir;
        let Some(lanes) = ir.lanes(ir.type_of(args[0])) else {
            return f(args);
        };
        let mut whole = ir.poison(result);
        for lane in 0..lanes {
            let index = ir.i32c(lane);
            let scalars: Vec<Val> = args
                .iter()
                .map(|&a| {
                    if ir.lanes(ir.type_of(a)).is_some() {
                        ir.extract_element(a, index)
                    } else {
                        a
                    }
                })
                .collect();
            whole = ir.insert_element(whole, f(&scalars), index);
        }
        whole
    }

    /// A function that stores a second result of type `second` through a pointer. `wanted`: the type to return if the
    /// second result is the one to return.
    fn through_memory(
        &self,
        name: &str,
        args: &[Val],
        second: Ty,
        result: Ty,
        wanted: Option<Ty>,
    ) -> Val {
        let ir = self.ir;
        let float = ir.scalar(ir.type_of(args[0]));
        let symbol = if float == ir.float {
            format!("{name}f")
        } else {
            name.to_owned()
        };
        let mut params: Vec<Ty> = args.iter().map(|&a| ir.scalar(ir.type_of(a))).collect();
        params.push(ir.ptr);
        let (function, ty) = ir.external(&symbol, float, &params);
        let place = self.entry_alloca(second, 8);
        self.each_element(args, wanted.unwrap_or(result), |args| {
            let mut args = args.to_vec();
            args.push(place);
            let v = ir.call(function, ty, &args);
            match wanted {
                Some(_) => ir.load(second, place, 4),
                None => v,
            }
        })
    }

    fn nextafter(&self, a: Val, b: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(a);
        if ir.scalar(ty) != ir.half {
            return self.per_lane2("nextafter", a, b);
        }
        let int = ir.shaped(ir.i16, ty);
        let bits = ir.cast(Opcode::LLVMBitCast, a, int);
        let one = ir.int_const(int, 1);
        let zero = ir.null(ty);
        let up = ir.fcmp(RealPred::LLVMRealOLT, a, b);
        let negative = ir.icmp(IntPred::LLVMIntSLT, bits, ir.int_const(int, 0));
        let grow = ir.xor(up, negative);
        let stepped = ir.select(grow, ir.add(bits, one), ir.sub(bits, one));
        let down_sign = ir.select(up, ir.int_const(int, 1), ir.int_const(int, 0x8001));
        let from_zero = ir.fcmp(RealPred::LLVMRealOEQ, a, zero);
        let stepped = ir.select(from_zero, down_sign, stepped);
        let moved = ir.cast(Opcode::LLVMBitCast, stepped, ty);
        let equal = ir.fcmp(RealPred::LLVMRealOEQ, a, b);
        let nan = ir.fcmp(RealPred::LLVMRealUNO, a, b);
        let nan_value = ir.bin(Opcode::LLVMFAdd, a, b);
        ir.select(nan, nan_value, ir.select(equal, b, moved))
    }

    /// The sign of gamma: negative in every second interval below zero.
    fn gamma_sign(&self, a: Val, result: Ty) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(a);
        let floor = ir.intrinsic("llvm.floor", &[ty], &[a]);
        let half = ir.bin(Opcode::LLVMFMul, floor, ir.float_const(ty, 0.5));
        let even = ir.fcmp(
            RealPred::LLVMRealOEQ,
            half,
            ir.intrinsic("llvm.floor", &[ty], &[half]),
        );
        let below = ir.fcmp(RealPred::LLVMRealOLT, a, ir.null(ty));
        let whole = ir.fcmp(RealPred::LLVMRealOEQ, floor, a);
        let negative = ir.and(below, ir.not(even));
        let sign = ir.select(
            negative,
            ir.int_const(result, u64::MAX),
            ir.int_const(result, 1),
        );
        // A pole has no sign.
        ir.select(ir.and(below, whole), ir.int_const(result, 0), sign)
    }

    /// x to the power of y for x >= 0, as OpenCL defines it: NaN for negative x and for indeterminate cases.
    fn powr(&self, a: Val, b: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(a);
        let (zero, one) = (ir.null(ty), ir.float_const(ty, 1.0));
        let is = |v: Val, what: Val| ir.fcmp(RealPred::LLVMRealOEQ, v, what);
        let v = self.per_lane2("pow", ir.intrinsic("llvm.fabs", &[ty], &[a]), b);
        let negative = ir.fcmp(RealPred::LLVMRealOLT, a, zero);
        let edge = ir.and(is(b, zero), ir.or(is(a, zero), self.is_infinite(a)));
        let endless = ir.and(is(a, one), self.is_infinite(b));
        let nan = ir.fcmp(RealPred::LLVMRealUNO, a, b);
        let none = ir.or(ir.or(negative, edge), ir.or(endless, nan));
        ir.select(none, ir.float_const(ty, f64::NAN), v)
    }

    /// The n-th root of a double: a power, and one Newton step that corrects the rounding of 1/n.
    fn rootn(&self, a: Val, n: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(a);
        let one = ir.float_const(ty, 1.0);
        let zero = ir.null(ty);
        let float_n = ir.cast(Opcode::LLVMSIToFP, n, ty);
        let magnitude = ir.intrinsic("llvm.fabs", &[ty], &[a]);
        let exponent = ir.bin(Opcode::LLVMFDiv, one, float_n);
        let root = self.per_lane2("pow", magnitude, exponent);
        // root * (1 + ln a * the rounding error of 1/n), unless the correction is not finite.
        let back = ir.intrinsic("llvm.fma", &[ty], &[ir.fneg(exponent), float_n, one]);
        let lost = ir.bin(Opcode::LLVMFDiv, back, float_n);
        let error = ir.bin(
            Opcode::LLVMFMul,
            self.per_lane("log", &[magnitude], ty),
            lost,
        );
        let better = ir.bin(
            Opcode::LLVMFAdd,
            root,
            ir.bin(Opcode::LLVMFMul, root, error),
        );
        let small = ir.intrinsic("llvm.fabs", &[ty], &[error]);
        let near = ir.fcmp(RealPred::LLVMRealOLT, small, ir.float_const(ty, 1e-6));
        // An infinite root (n = -1) has no error.
        let some = ir.fcmp(RealPred::LLVMRealOGT, small, zero);
        let root = ir.select(ir.and(near, some), better, root);
        let int_ty = ir.type_of(n);
        let odd = ir.icmp(
            IntPred::LLVMIntNE,
            ir.and(n, ir.int_const(int_ty, 1)),
            ir.int_const(int_ty, 0),
        );
        let signed = ir.intrinsic("llvm.copysign", &[ty], &[root, a]);
        let nan = ir.float_const(ty, f64::NAN);
        let negative = ir.fcmp(RealPred::LLVMRealOLT, a, zero);
        let even_root = ir.select(negative, nan, root);
        let v = ir.select(odd, signed, even_root);
        let no_root = ir.icmp(IntPred::LLVMIntEQ, n, ir.int_const(int_ty, 0));
        ir.select(no_root, nan, v)
    }

    /// sin, cos or tan of pi times a double.
    fn turn(&self, math: MathFn, of: Val) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(of);
        let number = |v: f64| ir.float_const(ty, v);
        // From 2^53 on all numbers are even: zero gives the same result, and doubling it stays finite.
        let size = ir.intrinsic("llvm.fabs", &[ty], &[of]);
        let large = ir.fcmp(RealPred::LLVMRealOGE, size, number(f64::powi(2.0, 53)));
        let a = ir.intrinsic("llvm.copysign", &[ty], &[number(0.0), of]);
        let a = ir.select(large, a, of);
        let mul = |a: Val, b: Val| ir.bin(Opcode::LLVMFMul, a, b);
        // a = quarter / 2 + rest with |rest| <= 1/4, exactly.
        let quarter = ir.intrinsic("llvm.roundeven", &[ty], &[mul(a, number(2.0))]);
        let rest = ir.bin(Opcode::LLVMFSub, a, mul(quarter, number(0.5)));
        let angle = mul(rest, number(std::f64::consts::PI));
        let sin = self.per_lane("sin", &[angle], ty);
        let cos = self.per_lane("cos", &[angle], ty);
        // Large numbers are whole: the quarter modulo four is then zero, or even.
        let four = ir.intrinsic("llvm.floor", &[ty], &[mul(quarter, number(0.25))]);
        let phase = ir.bin(Opcode::LLVMFSub, quarter, mul(four, number(4.0)));
        let int = ir.shaped(ir.i32, ty);
        let phase = ir.freeze(ir.cast(Opcode::LLVMFPToSI, phase, int));
        let bit = |mask: u64| {
            let masked = ir.and(phase, ir.int_const(int, mask));
            ir.icmp(IntPred::LLVMIntNE, masked, ir.int_const(int, 0))
        };
        let (swap, turned) = (bit(1), bit(2));
        let signed = |v: Val, negative: Val| ir.select(negative, ir.fneg(v), v);
        let sine = || {
            let v = signed(ir.select(swap, cos, sin), turned);
            // A whole number gives a zero with the operand's sign.
            let zero = ir.fcmp(RealPred::LLVMRealOEQ, v, ir.null(ty));
            ir.select(zero, ir.intrinsic("llvm.copysign", &[ty], &[v, a]), v)
        };
        let cosine = || {
            let v = signed(ir.select(swap, sin, cos), ir.xor(swap, turned));
            let zero = ir.fcmp(RealPred::LLVMRealOEQ, v, ir.null(ty));
            ir.select(zero, ir.null(ty), v)
        };
        let v = match math {
            MathFn::Sinpi => sine(),
            MathFn::Cospi => cosine(),
            _ => {
                // Whole numbers give zeros, and the halves between them infinities, with alternating signs.
                let whole = ir.fcmp(RealPred::LLVMRealOEQ, sin, ir.null(ty));
                let zero = ir.intrinsic("llvm.copysign", &[ty], &[ir.null(ty), a]);
                let plain = ir.bin(Opcode::LLVMFDiv, sin, cos);
                let plain = ir.select(whole, signed(zero, turned), plain);
                let across = ir.bin(Opcode::LLVMFDiv, ir.fneg(cos), sin);
                let across = ir.select(whole, signed(number(f64::INFINITY), turned), across);
                ir.select(swap, across, plain)
            }
        };
        let nan = number(f64::NAN);
        ir.select(self.is_infinite(of), nan, v)
    }

    /// The low seven bits of the quotient nearest to a / b, with its sign, from the remainder modulo 128 b.
    fn remquo(&self, a: Val, b: Val, result: Ty) -> Val {
        let ir = self.ir;
        let ty = ir.type_of(a);
        let wide_ty = ir.shaped(ir.double, ty);
        let abs = |v: Val| {
            let v = ir.cast(Opcode::LLVMFPExt, v, wide_ty);
            ir.intrinsic("llvm.fabs", &[wide_ty], &[v])
        };
        let (x, y) = (abs(a), abs(b));
        let many = ir.bin(Opcode::LLVMFMul, y, ir.float_const(wide_ty, 128.0));
        let huge = self.is_infinite(many);
        let reduced = ir.select(huge, x, self.per_lane2("fmod", x, many));
        // Exact: the difference is a multiple of the divisor, and the quotient is below 2^8.
        let rest = self.per_lane2("remainder", reduced, y);
        let quotient = ir.bin(Opcode::LLVMFDiv, ir.bin(Opcode::LLVMFSub, reduced, rest), y);
        let quotient = ir.intrinsic("llvm.roundeven", &[wide_ty], &[quotient]);
        let count = ir.intrinsic("llvm.fptosi.sat", &[result, wide_ty], &[quotient]);
        let count = ir.and(count, ir.int_const(result, 127));
        let zero = ir.null(ty);
        let sign_of = |v: Val| {
            let int = ir.shaped(ir.int(self.float_width(ty)), ty);
            let bits = ir.cast(Opcode::LLVMBitCast, v, int);
            ir.icmp(IntPred::LLVMIntSLT, bits, ir.int_const(int, 0))
        };
        let negative = ir.xor(sign_of(a), sign_of(b));
        let count = ir.select(negative, ir.neg(count), count);
        let undefined = ir.or(
            ir.fcmp(RealPred::LLVMRealUEQ, b, zero),
            ir.or(self.is_infinite(a), ir.fcmp(RealPred::LLVMRealUNO, a, a)),
        );
        ir.select(undefined, ir.int_const(result, 0), count)
    }
}
