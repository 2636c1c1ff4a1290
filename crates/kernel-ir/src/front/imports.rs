//! Imported functions that are known by name: LLVM intrinsics that the translator leaves as imports, C's mathematics,
//! DPC++'s bfloat16 conversions. `intel` and `opencl_c` have more.

use super::fault::{Res, invalid, unsupported};
use super::lower::Lower;
use super::{intel, opencl_c};
use crate::{
    AddressSpace, BinaryOp, Builtin, ConvertOp, MathFn, Op, Predicate, Type, TypeId, UnaryOp,
    ValueId,
};

/// The meaning of a name.
#[derive(Clone, Copy)]
enum Meaning {
    Binary(BinaryOp),
    Unary(UnaryOp),
    Math(MathFn),
    Convert(ConvertOp),
    Special(Special),
    OpenClC(opencl_c::Meaning),
}

#[derive(Clone, Copy)]
enum Special {
    /// Uses the first operand only (`llvm.ctlz` and `llvm.abs` also have a flag).
    CountFirst(UnaryOp),
    FunnelLeft,
    FunnelRight,
    IsFpClass,
    MemMove,
    MemCopy,
    MemSet,
    SwapBytes,
    FMulAdd,
    Expect,
    Ignore,
    /// `to_global` and similar, which LLVM's SPIR-V back end leaves as calls.
    ToSpace(AddressSpace),
    Trap,
    /// `__assert_fail` of C and of DPC++, which also passes the work-item's ids.
    AssertFail,
}

/// `name` without the types that LLVM appends.
fn meaning(name: &str) -> Option<Meaning> {
    use Meaning::{Binary, Convert, Math, Special as S, Unary};
    let Some(llvm) = name.strip_prefix("llvm.") else {
        return c_function(name);
    };
    // Names have up to three parts, then types (`usub.sat.i32`, `fabs.v4f32`).
    let parts: Vec<&str> = llvm.split('.').collect();
    let two = parts.get(..2).map(|two| two.join("."));
    let from_two = two.as_deref().and_then(|two| {
        Some(match two {
            "usub.sat" => Binary(BinaryOp::USubSat),
            "uadd.sat" => Binary(BinaryOp::UAddSat),
            "ssub.sat" => Binary(BinaryOp::SSubSat),
            "sadd.sat" => Binary(BinaryOp::SAddSat),
            "is.fpclass" => S(Special::IsFpClass),
            _ if two.starts_with("lifetime.") || two.starts_with("dbg.") => S(Special::Ignore),
            _ if two.starts_with("invariant.") || two.starts_with("experimental.noalias") => {
                S(Special::Ignore)
            }
            _ => return None,
        })
    });
    from_two.or_else(|| {
        Some(match *parts.first()? {
            "umin" => Binary(BinaryOp::UMin),
            "umax" => Binary(BinaryOp::UMax),
            "smin" => Binary(BinaryOp::SMin),
            "smax" => Binary(BinaryOp::SMax),
            "abs" => S(Special::CountFirst(UnaryOp::SAbs)),
            "ctlz" => S(Special::CountFirst(UnaryOp::CountLeadingZeros)),
            "cttz" => S(Special::CountFirst(UnaryOp::CountTrailingZeros)),
            "ctpop" => Unary(UnaryOp::PopCount),
            "bitreverse" => Unary(UnaryOp::BitReverse),
            "bswap" => S(Special::SwapBytes),
            "fshl" => S(Special::FunnelLeft),
            "fshr" => S(Special::FunnelRight),
            "memmove" => S(Special::MemMove),
            "memcpy" => S(Special::MemCopy),
            "memset" => S(Special::MemSet),
            "fabs" => Math(MathFn::Fabs),
            "sqrt" => Math(MathFn::Sqrt),
            "sin" => Math(MathFn::Sin),
            "cos" => Math(MathFn::Cos),
            "tan" => Math(MathFn::Tan),
            "exp" => Math(MathFn::Exp),
            "exp2" => Math(MathFn::Exp2),
            "exp10" => Math(MathFn::Exp10),
            "log" => Math(MathFn::Log),
            "log2" => Math(MathFn::Log2),
            "log10" => Math(MathFn::Log10),
            "pow" => Math(MathFn::Pow),
            "powi" => Math(MathFn::Pown),
            "ldexp" => Math(MathFn::Ldexp),
            "fma" => Math(MathFn::Fma),
            "fmuladd" => S(Special::FMulAdd),
            "floor" => Math(MathFn::Floor),
            "ceil" => Math(MathFn::Ceil),
            "trunc" => Math(MathFn::Trunc),
            "rint" | "nearbyint" | "roundeven" => Math(MathFn::Rint),
            "round" => Math(MathFn::Round),
            "minnum" => Math(MathFn::Fmin),
            "maxnum" => Math(MathFn::Fmax),
            "copysign" => Math(MathFn::Copysign),
            "expect" => S(Special::Expect),
            "trap" | "ubsantrap" => S(Special::Trap),
            "assume" | "donothing" | "prefetch" => S(Special::Ignore),
            "fptosi" => Convert(ConvertOp::SatFToS),
            "fptoui" => Convert(ConvertOp::SatFToU),
            _ => return None,
        })
    })
}

fn c_function(name: &str) -> Option<Meaning> {
    use Meaning::{Convert, Math};
    match name {
        "__devicelib_ConvertFToBF16INTEL" | "__spirv_ConvertFToBF16INTEL" => {
            return Some(Convert(ConvertOp::FToBf16));
        }
        "__devicelib_ConvertBF16ToFINTEL" | "__spirv_ConvertBF16ToFINTEL" => {
            return Some(Convert(ConvertOp::Bf16ToF));
        }
        _ => {}
    }
    if let Some(special) = special(name) {
        return Some(Meaning::Special(special));
    }
    if let Some(meaning) = opencl_c::meaning(name) {
        return Some(Meaning::OpenClC(meaning));
    }
    let name = name.strip_prefix("__devicelib_").unwrap_or(name);
    let function = |name: &str| {
        Some(match name {
            "acos" => MathFn::Acos,
            "acosh" => MathFn::Acosh,
            "asin" => MathFn::Asin,
            "asinh" => MathFn::Asinh,
            "atan" => MathFn::Atan,
            "atan2" => MathFn::Atan2,
            "atanh" => MathFn::Atanh,
            "cbrt" => MathFn::Cbrt,
            "ceil" => MathFn::Ceil,
            "copysign" => MathFn::Copysign,
            "cos" => MathFn::Cos,
            "cosh" => MathFn::Cosh,
            "erf" => MathFn::Erf,
            "erfc" => MathFn::Erfc,
            "exp" => MathFn::Exp,
            "exp2" => MathFn::Exp2,
            "expm1" => MathFn::Expm1,
            "fabs" => MathFn::Fabs,
            "fdim" => MathFn::Fdim,
            "floor" => MathFn::Floor,
            "fma" => MathFn::Fma,
            "fmax" => MathFn::Fmax,
            "fmin" => MathFn::Fmin,
            "fmod" => MathFn::Fmod,
            "hypot" => MathFn::Hypot,
            "ilogb" => MathFn::Ilogb,
            "ldexp" => MathFn::Ldexp,
            "lgamma" => MathFn::Lgamma,
            "log" => MathFn::Log,
            "log10" => MathFn::Log10,
            "log1p" => MathFn::Log1p,
            "log2" => MathFn::Log2,
            "logb" => MathFn::Logb,
            "nextafter" => MathFn::Nextafter,
            "pow" => MathFn::Pow,
            "remainder" => MathFn::Remainder,
            "rint" => MathFn::Rint,
            "round" => MathFn::Round,
            "rsqrt" => MathFn::Rsqrt,
            "sin" => MathFn::Sin,
            "sinh" => MathFn::Sinh,
            "sqrt" => MathFn::Sqrt,
            "tan" => MathFn::Tan,
            "tanh" => MathFn::Tanh,
            "tgamma" => MathFn::Tgamma,
            "trunc" => MathFn::Trunc,
            _ => return None,
        })
    };
    let found = function(name).or_else(|| function(name.strip_suffix('f')?));
    found.map(Math)
}

/// Functions that LLVM's SPIR-V back end leaves as calls, and the function behind C's `assert`.
fn special(name: &str) -> Option<Special> {
    Some(match name {
        "__assert_fail" | "__devicelib_assert_fail" => Special::AssertFail,
        "abort" => Special::Trap,
        "__to_global" => Special::ToSpace(AddressSpace::Global),
        "__to_local" => Special::ToSpace(AddressSpace::Local),
        "__to_private" => Special::ToSpace(AddressSpace::Private),
        _ => return None,
    })
}

/// Expands braces: `{a,b}c` is `ac` and `bc`.
#[cfg(test)]
pub(super) fn expanded(pattern: &str) -> Vec<String> {
    let braces = pattern.split_once('{').and_then(|(before, rest)| {
        let (choices, behind) = rest.split_once('}')?;
        Some((before, choices, behind))
    });
    let Some((before, choices, behind)) = braces else {
        return vec![pattern.to_owned()];
    };
    let behind = expanded(behind);
    choices
        .split(',')
        .flat_map(|choice| {
            behind
                .iter()
                .map(move |rest| format!("{before}{choice}{rest}"))
        })
        .collect()
}

/// Whether calls of `name` need no definition.
pub(super) fn known(name: &str) -> bool {
    intel::is_built_in(name) || meaning(name).is_some()
}

impl Lower<'_, '_> {
    /// A call of the known function `name`.
    pub(super) fn named(
        &mut self,
        name: &str,
        args: Vec<ValueId>,
        result: TypeId,
    ) -> Res<Option<ValueId>> {
        if intel::is_built_in(name) {
            return self.intel(name, &args, result);
        }
        let Some(meaning) = meaning(name) else {
            return unsupported(format!("a call of {name:?}"));
        };
        let count = args.len();
        let value = match (meaning, args.as_slice()) {
            (Meaning::Binary(op), &[a, b]) => self.binary(op, a, b),
            (Meaning::Unary(op), &[a]) => self.unary(op, a),
            (Meaning::Math(function), &[_, ..]) => {
                self.emit(Op::Math(function, args, crate::Flags::default()), result)
            }
            (Meaning::Convert(op), &[a]) => {
                // DPC++'s bfloat16 conversions take a reference.
                let a = match (op, self.module.types.get(self.f.ty(a))) {
                    (ConvertOp::FToBf16, Type::Ptr(_)) => {
                        let float = self.module.types.float(32);
                        self.load(a, float, 4)
                    }
                    (ConvertOp::Bf16ToF, Type::Ptr(_)) => {
                        let bits = self.module.types.int(16);
                        self.load(a, bits, 2)
                    }
                    _ => a,
                };
                self.convert(op, a, result)
            }
            (Meaning::Special(special), _) => return self.special(special, &args, result),
            (Meaning::OpenClC(meaning), _) => return self.opencl_c(meaning, &args, result),
            _ => return invalid(format!("{name:?} called with {count} arguments")),
        };
        Ok(Some(value))
    }

    fn special(
        &mut self,
        special: Special,
        args: &[ValueId],
        result: TypeId,
    ) -> Res<Option<ValueId>> {
        Ok(Some(match (special, args) {
            (Special::CountFirst(op), &[a, ..]) => self.unary(op, a),
            (Special::FunnelLeft, &[a, b, by]) => self.funnel(a, b, by, true)?,
            (Special::FunnelRight, &[a, b, by]) => self.funnel(a, b, by, false)?,
            (Special::IsFpClass, &[a, mask]) => {
                let Some(mask) = self.known(mask) else {
                    return unsupported("llvm.is.fpclass with a mask that is no constant");
                };
                self.fp_class(a, mask as u32)?
            }
            (Special::FMulAdd, &[_, _, _]) => self.math(MathFn::Mad, args.to_vec(), 0),
            (Special::Expect, &[a, ..]) => a,
            (Special::SwapBytes, &[a]) => self.swap_bytes(a)?,
            (Special::MemMove | Special::MemCopy, &[to, from, bytes, ..]) => {
                let bytes = self.byte_count(bytes)?;
                let (to, from) = (self.generic(to)?, self.generic(from)?);
                if matches!(special, Special::MemMove) {
                    let function = self.memmove_helper();
                    self.call_helper(function, vec![to, from, bytes]);
                } else {
                    self.emit_void(Op::CopyMemory {
                        dst: to,
                        src: from,
                        size: bytes,
                        align: 1,
                    });
                }
                return Ok(None);
            }
            (Special::MemSet, &[to, byte, bytes, ..]) => {
                let bytes = self.byte_count(bytes)?;
                let to = self.generic(to)?;
                let function = self.memset_helper();
                self.call_helper(function, vec![to, byte, bytes]);
                return Ok(None);
            }
            (Special::ToSpace(space), &[a]) => {
                let ty = self.module.types.ptr(space);
                if ty != result || !matches!(self.module.types.get(self.f.ty(a)), Type::Ptr(_)) {
                    return invalid("from a pointer to a pointer of the named space");
                }
                self.emit(Op::GenericToExplicit(a, space), ty)
            }
            (Special::Trap, _) => {
                self.trap();
                return self.undefined_result(result);
            }
            (Special::AssertFail, &[expression, file, line, function, ..]) => {
                self.assert_fail([expression, file, line, function])?;
                return self.undefined_result(result);
            }
            (Special::Ignore, _) => return self.undefined_result(result),
            _ => return invalid(format!("{} arguments are too few or too many", args.len())),
        }))
    }

    /// An undefined result; none if the function is void.
    fn undefined_result(&mut self, result: TypeId) -> Res<Option<ValueId>> {
        let void = self.module.types.void();
        Ok((result != void).then(|| self.undef(result)))
    }
    /// The work-item's ids in one of the two numberings.
    fn ids(&mut self, builtin: Builtin) -> [ValueId; 3] {
        let int = self.module.types.int(64);
        [0, 1, 2].map(|d| self.emit(Op::WorkItem(builtin, d), int))
    }

    /// A trap, unless the previous instruction is one.
    pub(super) fn trap(&mut self) {
        let block = self.f.blocks.get(self.block.index());
        let last = block.and_then(|block| self.f.insts.get(block.insts.last()?.index()));
        if last.is_some_and(|last| matches!(last.op, Op::Trap(_))) {
            return;
        }
        let ids = self.ids(Builtin::GlobalInvocationId);
        self.emit_void(Op::Trap(ids.to_vec()));
    }

    /// A trap for a failed assertion; operands are three texts, and the line before the last.
    fn assert_fail(&mut self, [expression, file, line, function]: [ValueId; 4]) -> Res<()> {
        let texts = [expression, file, function].map(|text| self.generic(text));
        let [expression, file, function] = texts;
        if self.lane_count(line) != 1 {
            return invalid("the line is a scalar");
        }
        let bits = self.int_bits(line)?;
        let line = self.resize(line, bits, 64);
        let mut operands = self.ids(Builtin::GlobalInvocationId).to_vec();
        operands.extend(self.ids(Builtin::LocalInvocationId));
        operands.extend([expression?, file?, line, function?]);
        self.emit_void(Op::Trap(operands));
        Ok(())
    }

    fn byte_count(&mut self, bytes: ValueId) -> Res<ValueId> {
        if self.lane_count(bytes) != 1 {
            return invalid("the size is a scalar");
        }
        let bits = self.int_bits(bytes)?;
        Ok(self.resize(bytes, bits, 64))
    }

    fn generic(&mut self, ptr: ValueId) -> Res<ValueId> {
        if !matches!(self.module.types.get(self.f.ty(ptr)), Type::Ptr(_)) {
            return invalid("an argument is no pointer");
        }
        let ty = self.module.types.ptr(AddressSpace::Generic);
        Ok(self.cast_pointer(ptr, ty))
    }

    /// The high (`left`) or low half of a:b shifted by `by` modulo the width.
    fn funnel(&mut self, a: ValueId, b: ValueId, by: ValueId, left: bool) -> Res<ValueId> {
        let bits = self.int_bits(a)?;
        let ty = self.f.ty(a);
        if self.f.ty(b) != ty || self.f.ty(by) != ty {
            return invalid("operands of different types");
        }
        let low = self.int_of(ty, u64::from(bits) - 1);
        let by = self.binary(BinaryOp::And, by, low);
        let width = self.int_of(ty, u64::from(bits));
        let rest = self.binary(BinaryOp::ISub, width, by);
        let zero = self.int_of(ty, 0);
        let none = self.compare(Predicate::IEq, by, zero);
        let (a_by, b_by) = if left { (by, rest) } else { (rest, by) };
        let high = self.binary(BinaryOp::Shl, a, a_by);
        let low = self.binary(BinaryOp::LShr, b, b_by);
        let both = self.binary(BinaryOp::Or, high, low);
        // A shift by the whole width is unspecified.
        Ok(self.select(none, if left { a } else { b }, both))
    }

    fn swap_bytes(&mut self, a: ValueId) -> Res<ValueId> {
        let bits = self.int_bits(a)?;
        let ty = self.f.ty(a);
        let mut all = self.int_of(ty, 0);
        for byte in 0..bits / 8 {
            let (down, up) = (
                self.int_of(ty, u64::from(byte) * 8),
                self.int_of(ty, u64::from(bits - 8 - byte * 8)),
            );
            let mask = self.int_of(ty, 0xff);
            let part = self.binary(BinaryOp::LShr, a, down);
            let part = self.binary(BinaryOp::And, part, mask);
            let part = self.binary(BinaryOp::Shl, part, up);
            all = self.binary(BinaryOp::Or, all, part);
        }
        Ok(all)
    }

    /// `llvm.is.fpclass`, on the bits: signalling NaN 1, quiet NaN 2, -inf 4, -normal 8, -denormal 16, -0 32, +0 64,
    /// +denormal 128, +normal 256, +inf 512.
    fn fp_class(&mut self, a: ValueId, mask: u32) -> Res<ValueId> {
        let bits = self.float_bits(a)?;
        let int = self.like(a, |types| types.int(bits));
        let number = self.bitcast(a, int)?;
        let mantissa: u64 = match bits {
            16 => 10,
            32 => 23,
            _ => 52,
        };
        let infinity = ((1u64 << (u64::from(bits) - 1 - mantissa)) - 1) << mantissa;
        let sign_bit = 1u64 << (bits - 1);
        let (inf, quiet) = (
            self.int_of(int, infinity),
            self.int_of(int, infinity | 1 << (mantissa - 1)),
        );
        let (zero, normal) = (self.int_of(int, 0), self.int_of(int, 1 << mantissa));
        let size = self.int_of(int, sign_bit - 1);
        let size = self.binary(BinaryOp::And, number, size);
        let negative = self.compare(Predicate::SLt, number, zero);
        let positive = self.unary(UnaryOp::Not, negative);
        let is_zero = self.compare(Predicate::IEq, size, zero);
        let is_inf = self.compare(Predicate::IEq, size, inf);
        let nan = self.compare(Predicate::UGt, size, inf);
        let quiet_nan = self.compare(Predicate::UGe, size, quiet);
        let loud = self.compare(Predicate::ULt, size, quiet);
        let loud_nan = self.binary(BinaryOp::And, nan, loud);
        let small = self.compare(Predicate::ULt, size, normal);
        let not_zero = self.unary(UnaryOp::Not, is_zero);
        let is_small = self.binary(BinaryOp::And, small, not_zero);
        let not_small = self.unary(UnaryOp::Not, small);
        let finite = self.compare(Predicate::ULt, size, inf);
        let is_normal = self.binary(BinaryOp::And, not_small, finite);
        let never = self.compare(Predicate::ULt, size, zero);
        let mut any = never;
        let classes = [
            (1, loud_nan, None),
            (2, quiet_nan, None),
            (4, is_inf, Some(negative)),
            (8, is_normal, Some(negative)),
            (16, is_small, Some(negative)),
            (32, is_zero, Some(negative)),
            (64, is_zero, Some(positive)),
            (128, is_small, Some(positive)),
            (256, is_normal, Some(positive)),
            (512, is_inf, Some(positive)),
        ];
        for (bit, class, sign) in classes {
            if mask & bit == 0 {
                continue;
            }
            let class = match sign {
                Some(sign) => self.binary(BinaryOp::And, class, sign),
                None => class,
            };
            any = self.binary(BinaryOp::Or, any, class);
        }
        Ok(any)
    }
}
