//! Mathematics made of instructions: each function is written once, for vectors of any width, of floats or doubles.
//!
//! Reductions bring the arguments into a small interval, in which polynomials (`coefficients.rs`) approximate the
//! function:
//!
//! ```text
//! e^x = 2^n e^r    n = round(x / ln 2), r = x - n ln 2, so that |r| <= ln 2 / 2
//!                  e^r by a polynomial, 2^n by the bits of an exponent
//! ```
//!
//! Functions of floats are computed in floats where that costs little, else in doubles with short polynomials and one
//! rounding. Special values come out of the arithmetic itself where they can. Where they cannot, the common path is
//! taken if no lane needs more, and a slower one otherwise. Long functions become internal functions of the object, one
//! for each vector type.
//!
//! Tests compare with the interpreter (`tests/machine/mathematics.rs`) and, within OpenCL's full profile, with numbers
//! of 113 bits (`tests/machine/accuracy.rs`); `docs/mathematics.md` lists the largest errors found. Nothing here traps,
//! depends on a rounding mode other than to the nearest, or reads memory other than constants.

mod circular;
mod code;
#[expect(
    clippy::approx_constant,
    reason = "fitted coefficients, next to a constant or not"
)]
mod coefficients;
mod exact;
mod exponential;
mod gamma;
mod hyperbolic;
mod inverse;
mod lane;
mod logarithm;
mod power;

use kernel_ir::MathFn;
use vectorise::{VectorForm, vector_form};

use crate::llvm::{IntPred, Linkage, Ty, Val};
pub(crate) use code::Mathematics;
use lane::{Real, Truth, Whole};

/// Fewest lanes for which this is faster than C's library on each lane.
const LANES: u32 = 4;

impl<'a> Mathematics<'a> {
    /// The function on vectors of floats or doubles; `None` where there is no such form. `result` is the type of the
    /// result; if it is an integer type, it has 32 bits.
    pub(crate) fn vector(&'a self, math: MathFn, args: &[Val], result: Ty) -> Option<Val> {
        let ir = self.ir;
        let ty = ir.type_of(*args.first()?);
        let scalar = ir.scalar(ty);
        let lanes = ir.lanes(ty)?;
        if lanes < LANES || !(scalar == ir.double || scalar == ir.float) {
            return None;
        }
        // Where the processor has an estimate, it replaces the form below.
        if math == MathFn::Rsqrt
            && let Some(root) = self.real(*args.first()?).inverse_root()
        {
            return Some(root.v);
        }
        match vector_form(math) {
            VectorForm::Inline => self.body(math, args),
            VectorForm::Function => self.out_of_line(math, args, result),
            VectorForm::Library => None,
        }
    }

    /// A call of the internal function for `math`, whose body is made with its first call.
    fn out_of_line(&self, math: MathFn, args: &[Val], result: Ty) -> Option<Val> {
        let name = format!("{math:?}");
        self.internal(&name, args, result, |inner, params| {
            let made = inner.body(math, params);
            made.unwrap_or_else(|| inner.ir.poison(result))
        })
    }

    /// A call of an internal function of the object, whose body is made with its first call.
    fn internal(
        &self,
        name: &str,
        args: &[Val],
        result: Ty,
        body: impl for<'b> FnOnce(&'b Mathematics<'b>, &[Val]) -> Val,
    ) -> Option<Val> {
        let ir = self.ir;
        let ty = ir.type_of(*args.first()?);
        let kind = if ir.scalar(ty) == ir.double { 'd' } else { 'f' };
        let name = format!("solum.math.{name}.{}{kind}", ir.lanes(ty)?);
        let params: Vec<Ty> = args.iter().map(|&a| ir.type_of(a)).collect();
        let (function, function_ty) = ir.pure_external(&name, result, &params);
        if ir.is_declaration(function) {
            let here = ir.here();
            ir.set_linkage(function, Linkage::LLVMInternalLinkage);
            for (attribute, value) in [("noinline", 0), ("noredzone", 0)] {
                ir.attribute(function, None, attribute, value);
            }
            ir.text_attribute(function, "probe-stack", "inline-asm");
            ir.at_end(ir.block(function, c"entry"));
            let inner = Mathematics {
                ir,
                function,
                registers: self.registers,
            };
            let params: Vec<Val> = (0..args.len())
                .map(|i| ir.param(function, i as u32))
                .collect();
            ir.ret(body(&inner, &params));
            ir.at_end(here);
        }
        Some(ir.call(function, function_ty, args))
    }

    fn real(&'a self, v: Val) -> Real<'a> {
        Real { m: self, v }
    }

    /// Applies `f` in doubles. Floats are extended to doubles, and the result is rounded once.
    fn in_double(&'a self, args: &[Val], f: impl FnOnce(&[Real<'a>]) -> Real<'a>) -> Val {
        let ty = self.ir.type_of(args[0]);
        let wide: Vec<Real<'a>> = args.iter().map(|&a| self.real(a).to_double()).collect();
        f(&wide).round_to(ty).v
    }

    fn body(&'a self, math: MathFn, args: &[Val]) -> Option<Val> {
        use MathFn as M;
        use exponential::Base;
        let ir = self.ir;
        let x = self.real(*args.first()?);
        let y = self.real(args.get(1).copied().unwrap_or(x.v));
        let int = |v: Val| Whole { m: self, v };
        // Whether results are doubles: those of floats need only shorter polynomials.
        let full = x.is_double();
        let wide = |f: &dyn Fn(Real<'a>) -> Real<'a>| self.in_double(&[x.v], |v| f(v[0]));
        let wide2 = |f: &dyn Fn(Real<'a>, Real<'a>) -> Real<'a>| {
            self.in_double(&[x.v, y.v], |v| f(v[0], v[1]))
        };
        let turns = std::f64::consts::FRAC_1_PI;
        Some(match math {
            M::Exp | M::NativeExp => x.exponential(Base::E).v,
            M::Exp2 | M::NativeExp2 => x.exponential(Base::Two).v,
            M::Exp10 | M::NativeExp10 => x.exponential(Base::Ten).v,
            M::Expm1 => x.expm1().v,
            M::Log | M::NativeLog => x.logarithm(Base::E).v,
            M::Log2 | M::NativeLog2 => x.logarithm(Base::Two).v,
            M::Log10 | M::NativeLog10 => x.logarithm(Base::Ten).v,
            M::Log1p => wide(&|x| x.log1p()),
            M::Sin => x.circular(circular::Function::Sine).v,
            M::Cos => x.circular(circular::Function::Cosine).v,
            M::Tan => x.circular(circular::Function::Tangent).v,
            M::NativeSin => x.rough_circular(circular::Function::Sine).v,
            M::NativeCos => x.rough_circular(circular::Function::Cosine).v,
            M::NativeTan => x.rough_circular(circular::Function::Tangent).v,
            M::Sinpi => wide(&|x| x.turn(circular::Function::Sine, full)),
            M::Cospi => wide(&|x| x.turn(circular::Function::Cosine, full)),
            M::Tanpi => wide(&|x| x.turn(circular::Function::Tangent, full)),
            M::Asin => wide(&|x| x.asin(full)),
            M::Acos => wide(&|x| x.acos(full)),
            M::Atan => wide(&|x| x.atan(full)),
            M::Atan2 => wide2(&|y, x| y.atan2(x, full)),
            M::Asinpi => wide(&|x| x.asin(full) * turns),
            M::Acospi => wide(&|x| x.acos(full) * turns),
            M::Atanpi => wide(&|x| x.atan(full) * turns),
            M::Atan2pi => wide2(&|y, x| y.atan2(x, full) * turns),
            M::Sinh => wide(&|x| x.sinh()),
            M::Cosh => wide(&|x| x.cosh()),
            M::Tanh => wide(&|x| x.tanh()),
            M::Asinh => wide(&|x| x.asinh()),
            M::Acosh => wide(&|x| x.acosh()),
            M::Atanh => wide(&|x| x.atanh()),
            M::Erf => wide(&|x| x.erf(full)),
            M::Erfc => wide(&|x| x.erfc(full)),
            M::Tgamma => wide(&|x| x.gamma(full)),
            M::Lgamma => wide(&|x| x.ln_gamma(full)),
            M::Cbrt => x.cbrt().v,
            M::Hypot => x.hypot(y).v,
            M::Pow => wide2(&|x, y| x.pow(y, full)),
            M::Powr => wide2(&|x, y| x.powr(y, full)),
            M::NativePowr => {
                let product = y * x.logarithm(Base::Two);
                product.exponential(Base::Two).v
            }
            // For doubles an estimate would take too many steps.
            M::NativeRsqrt if !full => x.rough_inverse_root().v,
            M::Pown => {
                let n = int(*args.get(1)?);
                wide(&|x| x.pow(n.real(x), full))
            }
            M::Rootn => {
                let n = int(*args.get(1)?);
                wide(&|x| x.rootn(n, full))
            }
            M::Fdim => {
                let positive = y.less(x).pick(x - y, x.number(0.0));
                x.either_nan(y).pick(x + y, positive).v
            }
            M::Nextafter => x.next_after(y).v,
            M::Ldexp => x.ldexp(int(*args.get(1)?)).v,
            M::Ilogb => x.ilogb().v,
            M::Logb => x.logb().v,
            M::FrexpMantissa => x.frexp().0.v,
            M::FrexpExponent => x.frexp().1.v,
            M::Fmod => x.remainder(y, exact::Quotient::Truncated).v,
            M::Remainder => x.remainder(y, exact::Quotient::Nearest).v,
            _ => return None,
        })
        .filter(|&v| v != ir.poison(ir.type_of(v)))
    }

    /// `fast` if `fits` holds in every lane, else `slow`; both compute N values.
    fn if_all<const N: usize>(
        &'a self,
        fits: Truth<'a>,
        fast: impl FnOnce() -> [Real<'a>; N],
        slow: impl FnOnce() -> [Real<'a>; N],
    ) -> [Real<'a>; N] {
        let ir = self.ir;
        let lanes = ir.lanes(ir.type_of(fits.v)).unwrap_or(1);
        // Inactive lanes may hold anything.
        let bits = ir.cast(
            crate::llvm::Opcode::LLVMBitCast,
            ir.freeze(fits.v),
            ir.int(lanes),
        );
        let ones = ir.int_const(ir.int(lanes), u64::MAX);
        let all = ir.icmp(IntPred::LLVMIntEQ, bits, ones);
        let [yes, no, join] =
            [c"common", c"special", c"computed"].map(|name| ir.block(self.function, name));
        ir.cond_br(all, yes, no);
        ir.at_end(yes);
        let a = fast();
        let yes = ir.here();
        ir.br(join);
        ir.at_end(no);
        let b = slow();
        let no = ir.here();
        ir.br(join);
        ir.at_end(join);
        std::array::from_fn(|i| {
            let both = ir.phi(a[i].ty());
            ir.add_incoming(both, a[i].v, yes);
            ir.add_incoming(both, b[i].v, no);
            self.real(both)
        })
    }

    /// C's function on each lane; `name` is that of its version for doubles.
    fn library(&'a self, name: &str, args: &[Real<'a>]) -> Real<'a> {
        let ir = self.ir;
        let ty = args[0].ty();
        let scalar = ir.scalar(ty);
        let name = if args[0].is_double() {
            name.to_owned()
        } else {
            format!("{name}f")
        };
        let params = vec![scalar; args.len()];
        let (function, function_ty) = ir.pure_external(&name, scalar, &params);
        let mut whole = ir.poison(ty);
        for lane in 0..ir.lanes(ty).unwrap_or(0) {
            let index = ir.i32c(lane);
            let scalars: Vec<Val> = args
                .iter()
                .map(|a| ir.extract_element(a.v, index))
                .collect();
            whole = ir.insert_element(whole, ir.call(function, function_ty, &scalars), index);
        }
        self.real(whole)
    }
}
