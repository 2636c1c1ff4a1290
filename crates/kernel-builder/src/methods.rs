//! The methods that numbers and slices have in kernels, under Rust's names.

use spirv::{Op, OpenclStd100Op as Cl};

use crate::builder::{Builder, Operand};
use crate::half_precision::is_half_conversion;
use crate::types::Type;

/// The methods of the language. The macro treats any other name as a user's device function.
pub const METHODS: &[&str] = &[
    "abs",
    "abs_diff",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "checked_add",
    "checked_div",
    "checked_mul",
    "checked_rem",
    "checked_sub",
    "clamp",
    "cmp",
    "copysign",
    "cos",
    "cosh",
    "count_ones",
    "count_zeros",
    "div_ceil",
    "div_euclid",
    "exp",
    "exp2",
    "exp_m1",
    "floor",
    "fract",
    "from",
    "from_bits",
    "from_f32",
    "from_f32_const",
    "from_f64",
    "from_f64_const",
    "hypot",
    "ilog2",
    "is_empty",
    "is_finite",
    "is_infinite",
    "is_multiple_of",
    "is_nan",
    "is_negative",
    "is_normal",
    "is_positive",
    "is_power_of_two",
    "is_sign_negative",
    "is_sign_positive",
    "leading_ones",
    "leading_zeros",
    "len",
    "ln",
    "ln_1p",
    "log10",
    "log2",
    "max",
    "min",
    "mul_add",
    "overflowing_add",
    "overflowing_mul",
    "overflowing_sub",
    "partial_cmp",
    "pow",
    "powf",
    "powi",
    "recip",
    "rem_euclid",
    "rotate_left",
    "rotate_right",
    "round",
    "round_ties_even",
    "saturating_add",
    "saturating_mul",
    "saturating_sub",
    "signum",
    "sin",
    "sin_cos",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "to_bits",
    "to_degrees",
    "to_f32",
    "to_f32_const",
    "to_f64",
    "to_f64_const",
    "to_radians",
    "trailing_ones",
    "trailing_zeros",
    "trunc",
    "unsigned_abs",
    "wrapping_add",
    "wrapping_mul",
    "wrapping_neg",
    "wrapping_pow",
    "wrapping_shl",
    "wrapping_shr",
    "wrapping_sub",
];

use crate::arithmetic::{Binary, Unary};

/// Functions of OpenCL that compute the same as a method of Rust's floating-point numbers, to within their accuracy.
fn float_function(name: &str) -> Option<Cl> {
    Some(match name {
        "abs" => Cl::fabs,
        "acos" => Cl::acos,
        "acosh" => Cl::acosh,
        "asin" => Cl::asin,
        "asinh" => Cl::asinh,
        "atan" => Cl::atan,
        "atan2" => Cl::atan2,
        "atanh" => Cl::atanh,
        "cbrt" => Cl::cbrt,
        "ceil" => Cl::ceil,
        "copysign" => Cl::copysign,
        "cos" => Cl::cos,
        "cosh" => Cl::cosh,
        "exp" => Cl::exp,
        "exp2" => Cl::exp2,
        "exp_m1" => Cl::expm1,
        "floor" => Cl::floor,
        "hypot" => Cl::hypot,
        "ln" => Cl::log,
        "ln_1p" => Cl::log1p,
        "log10" => Cl::log10,
        "log2" => Cl::log2,
        "max" => Cl::fmax,
        "min" => Cl::fmin,
        "mul_add" => Cl::fma,
        "powf" => Cl::pow,
        "powi" => Cl::pown,
        "round" => Cl::round,
        "round_ties_even" => Cl::rint,
        "sin" => Cl::sin,
        "sinh" => Cl::sinh,
        "sqrt" => Cl::sqrt,
        "tan" => Cl::tan,
        "tanh" => Cl::tanh,
        "trunc" => Cl::trunc,
        _ => return None,
    })
}

fn int_function(name: &str, signed: bool) -> Option<Cl> {
    Some(match (name, signed) {
        ("abs" | "unsigned_abs", true) => Cl::s_abs,
        ("abs_diff", true) => Cl::s_abs_diff,
        ("abs_diff", false) => Cl::u_abs_diff,
        ("clamp", true) => Cl::s_clamp,
        ("clamp", false) => Cl::u_clamp,
        ("max", true) => Cl::s_max,
        ("max", false) => Cl::u_max,
        ("min", true) => Cl::s_min,
        ("min", false) => Cl::u_min,
        ("saturating_add", true) => Cl::s_add_sat,
        ("saturating_add", false) => Cl::u_add_sat,
        ("saturating_sub", true) => Cl::s_sub_sat,
        ("saturating_sub", false) => Cl::u_sub_sat,
        _ => return None,
    })
}

impl Builder {
    /// A method, or a function of a number's type; `result` is the type that Rust gives it.
    pub fn method(&mut self, name: &str, operands: &[Operand], result: &Type) -> Operand {
        let Some(first) = operands.first().copied() else {
            return self.refuse(format!("`{name}` without an argument"));
        };
        match name {
            "len" => return self.length(first),
            "is_empty" => {
                let length = self.length(first);
                let zero = Operand::Value(self.size(0));
                return self.binary(Binary::Equal, length, zero);
            }
            _ => {}
        }
        let mut ids = Vec::new();
        for operand in operands {
            let operand = self.follow(*operand);
            let Operand::Value(id) = self.read(operand) else {
                return Operand::Never;
            };
            ids.push(id);
        }
        let ty = self.type_of(ids[0]);
        self.check_method(name, &ids);
        let made = match &ty {
            _ if name == "partial_cmp" => {
                return self.partial_order(result, ids[0], *ids.get(1).unwrap_or(&ids[0]));
            }
            _ if name == "from" || is_half_conversion(name) => {
                return self.cast(Operand::Value(ids[0]), result);
            }
            Type::Float(16) => self.half_method(name, &ids, result),
            Type::Float(bits) => self.float_method(name, &ids, &ty, *bits, result),
            Type::Int { bits, signed } => {
                self.int_method(name, &ids, &ty, (*bits, *signed), result)
            }
            Type::Vector(of, _) => {
                let direct = match &**of {
                    Type::Int { signed, .. } => int_function(name, *signed),
                    Type::Float(16) => None,
                    _ => float_function(name),
                };
                match direct {
                    Some(function) => Some(self.function(function, result, &ids)),
                    None => self.vector_method(name, &ids, result),
                }
            }
            _ => None,
        };
        let made = made.or_else(|| match &ty {
            Type::Float(16) => None,
            Type::Float(bits) => self.long_float_method(name, &ids, *bits, result),
            _ => self.long_int_method(name, &ids, result),
        });
        made.unwrap_or_else(|| {
            self.refuse(format!(
                "`{name}` of {ty} is not available in kernels: write it as a #[device] function of another name"
            ))
        })
    }

    pub(crate) fn function(&mut self, function: Cl, ty: &Type, ids: &[u32]) -> Operand {
        let mut operands = vec![self.module.math(), function as u32];
        operands.extend_from_slice(ids);
        self.value(Op::ExtInst, ty, &operands)
    }

    fn float_method(
        &mut self,
        name: &str,
        ids: &[u32],
        ty: &Type,
        bits: u32,
        result: &Type,
    ) -> Option<Operand> {
        if let Some(function) = float_function(name) {
            return Some(self.function(function, ty, ids));
        }
        let x = *ids.first()?;
        let one = match bits {
            64 => self.float(64, 1f64.to_bits()),
            _ => self.float(32, u64::from(1f32.to_bits())),
        };
        let Operand::Value(one) = one else {
            return None;
        };
        Some(match name {
            "recip" => self.value(Op::FDiv, ty, &[one, x]),
            "is_nan" => self.value(Op::FUnordNotEqual, &Type::Bool, &[x, x]),
            "is_finite" => self.value(Op::IsFinite, &Type::Bool, &[x]),
            "is_infinite" => self.value(Op::IsInf, &Type::Bool, &[x]),
            "is_sign_negative" => self.value(Op::SignBitSet, &Type::Bool, &[x]),
            "to_bits" => self.value(Op::Bitcast, result, &[x]),
            "signum" => {
                let sign = self.function(Cl::copysign, ty, &[one, x]);
                let Operand::Value(sign) = sign else {
                    return None;
                };
                let nan = self.emit(Op::FUnordNotEqual, &Type::Bool, &[x, x]);
                self.value(Op::Select, ty, &[nan, x, sign])
            }
            "clamp" => {
                let (low, high) = (*ids.get(1)?, *ids.get(2)?);
                let below = self.emit(Op::FOrdLessThan, &Type::Bool, &[x, low]);
                let x = self.emit(Op::Select, ty, &[below, low, x]);
                let above = self.emit(Op::FOrdGreaterThan, &Type::Bool, &[x, high]);
                self.value(Op::Select, ty, &[above, high, x])
            }
            _ => return None,
        })
    }

    fn int_method(
        &mut self,
        name: &str,
        ids: &[u32],
        ty: &Type,
        (bits, signed): (u32, bool),
        result: &Type,
    ) -> Option<Operand> {
        if let Some(function) = int_function(name, signed) {
            let value = self.function(function, result, ids);
            if let (Cl::u_min | Cl::u_max, false) = (function, signed) {
                self.learn_choice(function == Cl::u_min, value, ids);
            }
            return Some(value);
        }
        let (x, y) = (*ids.first()?, ids.get(1).copied());
        let value = Operand::Value;
        let zero = self.module.integer(bits, 0);
        Some(match name {
            "wrapping_add" => self.binary(Binary::Add, value(x), value(y?)),
            "wrapping_sub" => self.binary(Binary::Sub, value(x), value(y?)),
            "wrapping_mul" => self.binary(Binary::Mul, value(x), value(y?)),
            "wrapping_shl" => self.binary(Binary::Shl, value(x), value(y?)),
            "wrapping_shr" => self.binary(Binary::Shr, value(x), value(y?)),
            "wrapping_neg" => self.unary(Unary::Neg, value(x)),
            "from_bits" => self.value(Op::Bitcast, result, &[x]),
            "count_ones" => self.counted(Cl::popcount, x, ty, result),
            "count_zeros" => {
                let not = self.emit(Op::Not, ty, &[x]);
                self.counted(Cl::popcount, not, ty, result)
            }
            "leading_zeros" => self.counted(Cl::clz, x, ty, result),
            "trailing_zeros" => self.counted(Cl::ctz, x, ty, result),
            "rotate_left" | "rotate_right" => {
                let Operand::Value(mut count) = self.cast(value(y?), ty) else {
                    return None;
                };
                if name == "rotate_right" {
                    count = self.emit(Op::SNegate, ty, &[count]);
                }
                let mask = self.module.integer(bits, u64::from(bits - 1));
                let count = self.emit(Op::BitwiseAnd, ty, &[count, mask]);
                self.function(Cl::rotate, ty, &[x, count])
            }
            "is_multiple_of" => {
                let y = y?;
                let one = self.module.integer(bits, 1);
                let by_zero = self.emit(Op::IEqual, &Type::Bool, &[y, zero]);
                let divisor = self.emit(Op::Select, ty, &[by_zero, one, y]);
                let rest = self.emit(Op::UMod, ty, &[x, divisor]);
                // Only zero is a multiple of zero.
                let rest = self.emit(Op::Select, ty, &[by_zero, x, rest]);
                self.value(Op::IEqual, &Type::Bool, &[rest, zero])
            }
            "is_negative" => self.value(Op::SLessThan, &Type::Bool, &[x, zero]),
            "is_positive" => self.value(Op::SGreaterThan, &Type::Bool, &[x, zero]),
            "signum" => {
                let low = self.module.integer_as(bits, true, u64::MAX >> (64 - bits));
                let high = self.module.integer_as(bits, true, 1);
                self.function(Cl::s_clamp, ty, &[x, low, high])
            }
            _ => return None,
        })
    }

    /// A function whose result has the type of its argument, where Rust's is `u32`.
    pub(crate) fn counted(&mut self, function: Cl, x: u32, ty: &Type, result: &Type) -> Operand {
        let count = self.function(function, ty, &[x]);
        let Type::Int { bits, .. } = ty else {
            return count;
        };
        let unsigned = Type::Int {
            bits: *bits,
            signed: false,
        };
        // A count never has the sign bit.
        let count = self.cast(count, &unsigned);
        self.cast(count, result)
    }
}
