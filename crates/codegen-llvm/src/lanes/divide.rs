//! Divisions of integers that differ from lane to lane. No processor divides vectors of integers, but all divide
//! vectors of doubles. Doubles hold integers of up to 52 bits exactly, and a quotient of two such integers never rounds
//! up to the next integer.

use kernel_ir::{BinaryOp, Flags, ValueId};

use super::region::Lanes;
use crate::llvm::{IntPred, Opcode, Val};

/// Unsigned integers below this bound are exact, and signed ones from `-EXACT / 2` to `EXACT / 2 - 1`.
const EXACT: u64 = 1 << 52;

/// A divisor that all lanes share is divided by once: its reciprocal times this is above the exact one, and by less than
/// 2^-50 of it. A product of an integer of 32 bits with that is at least the exact quotient, and below the next integer,
/// because the quotient's distance to it is 2^-32 of the dividend or more. wrap_remainder of tests/kernels took 0.63 of
/// the time (2026-11, Intel Xeon with AVX-512, two processors, busy).
const ABOVE: f64 = 1.0 + 2.0 * f64::EPSILON;

/// Converts integers to doubles: an integer, added to the bits of a large double, fills its lowest places.
struct Scale {
    /// The bits of that double.
    bits: u64,
    /// Its value.
    value: f64,
}

const UNSIGNED: Scale = Scale {
    bits: 0x4330 << 48,
    value: EXACT as f64,
};
const SIGNED: Scale = Scale {
    bits: 0x4338 << 48,
    value: (EXACT + EXACT / 2) as f64,
};

impl Lanes<'_, '_, '_> {
    /// The division `op` of integers of `bits` bits, with doubles.
    pub(super) fn divided(
        &mut self,
        op: BinaryOp,
        operands: [ValueId; 2],
        flags: Flags,
        bits: u32,
    ) -> Val {
        let signed = matches!(op, BinaryOp::SDiv | BinaryOp::SRem);
        let quotient = matches!(op, BinaryOp::UDiv | BinaryOp::SDiv);
        kernel_ir::mark!(DivideWords, bits == 32);
        kernel_ir::mark!(DivideLong, bits == 64);
        match bits {
            64 => self.divide_long(op, operands, flags, signed, quotient),
            _ => self.divide_words(operands, signed, quotient),
        }
    }

    /// Both operands as vectors. Divisors that would trap become 1, and inactive lanes divide 0 by 1.
    fn operands(&mut self, [a, b]: [ValueId; 2], signed: bool) -> [Val; 2] {
        let ir = self.low.ir;
        let [mut a, mut b] = [a, b].map(|v| self.vectors(v)[0]);
        if let Some(mask) = self.mask {
            let ty = ir.type_of(a);
            a = ir.select(mask, a, ir.int_const(ty, 0));
            b = ir.select(mask, b, ir.int_const(ty, 1));
        }
        let [a, b] = [a, b].map(|v| ir.freeze(v));
        [a, self.low.safe_divisor(a, b, signed)]
    }

    /// 32-bit integers: always as doubles. No double traps, so lanes that are inactive divide too, and the least integer
    /// divided by -1 wraps to itself.
    fn divide_words(&mut self, [a, b]: [ValueId; 2], signed: bool, quotient: bool) -> Val {
        let ir = self.low.ir;
        let extend = match signed {
            true => Opcode::LLVMSExt,
            false => Opcode::LLVMZExt,
        };
        let doubles = ir.vector(ir.double, self.width);
        let a = ir.freeze(self.vectors(a)[0]);
        let narrow = ir.type_of(a);
        let a = self.to_doubles(ir.cast(extend, a, ir.vector(ir.i64, self.width)), signed);
        let by = self.rep(b);
        let (whole, b) = match by.first {
            Some(first) if by.is_uniform() => {
                let b = self.divisor(first, extend, signed);
                let one = ir.bin(Opcode::LLVMFDiv, ir.float_const(ir.double, 1.0), b);
                let above = ir.bin(Opcode::LLVMFMul, one, ir.float_const(ir.double, ABOVE));
                let whole = ir.bin(Opcode::LLVMFMul, a, self.splat(above));
                (whole, self.splat(b))
            }
            _ => {
                let b = self.vectors(b)[0];
                let b = self.divisor(b, extend, signed);
                (ir.bin(Opcode::LLVMFDiv, a, b), b)
            }
        };
        let whole = ir.intrinsic("llvm.trunc", &[doubles], &[whole]);
        ir.cast(
            Opcode::LLVMTrunc,
            self.finished([a, b], whole, signed, quotient),
            narrow,
        )
    }

    /// Divisors of 32 bits, one or a vector, as doubles; 1 in place of 0.
    fn divisor(&self, b: Val, extend: Opcode, signed: bool) -> Val {
        let ir = self.low.ir;
        let (b, ty) = (ir.freeze(b), ir.type_of(b));
        let is_zero = ir.icmp(IntPred::LLVMIntEQ, b, ir.int_const(ty, 0));
        let b = ir.select(is_zero, ir.int_const(ty, 1), b);
        let wide = match ty == ir.i32 {
            true => ir.i64,
            false => ir.vector(ir.i64, self.width),
        };
        self.to_doubles(ir.cast(extend, b, wide), signed)
    }

    /// 64-bit integers: as doubles if all of them are small enough, else lane after lane.
    fn divide_long(
        &mut self,
        op: BinaryOp,
        operands: [ValueId; 2],
        flags: Flags,
        signed: bool,
        quotient: bool,
    ) -> Val {
        let ir = self.low.ir;
        let [a, b] = self.operands(operands, signed);
        let ty = ir.type_of(a);
        let large = |v: Val| {
            let v = match signed {
                true => ir.add(v, ir.int_const(ty, EXACT / 2)),
                false => v,
            };
            ir.icmp(IntPred::LLVMIntUGE, v, ir.int_const(ty, EXACT))
        };
        let large = self.any(ir.or(large(a), large(b)));
        let [fast, slow, lane, join] = [c"divide", c"divide.apart", c"divide.lane", c"divided"]
            .map(|name| self.low.new_block(name));
        ir.cond_br(large, slow, fast);
        ir.at_end(fast);
        let as_doubles = self.divide_doubles([a, b], signed, quotient);
        let fast = ir.here();
        ir.br(join);
        ir.at_end(slow);
        let slots = [a, b].map(|v| {
            let slot = self.low.entry_alloca(ty, 64);
            ir.store(v, slot, 64);
            slot
        });
        ir.br(lane);
        ir.at_end(lane);
        let i = ir.phi(ir.i64);
        ir.add_incoming(i, ir.i64c(0), slow);
        let at = slots.map(|slot| ir.element(ir.i64, slot, i));
        let one = at.map(|at| ir.load(ir.i64, at, 8));
        let made = self.low.binary(op, one[0], one[1], flags);
        ir.store(made, at[0], 8);
        let next = ir.add(i, ir.i64c(1));
        ir.add_incoming(i, next, ir.here());
        let more = ir.icmp(IntPred::LLVMIntULT, next, ir.i64c(u64::from(self.width)));
        let after = self.low.new_block(c"divided.apart");
        ir.cond_br(more, lane, after);
        ir.at_end(after);
        let lane_by_lane = ir.load(ty, slots[0], 64);
        ir.br(join);
        ir.at_end(join);
        let both = ir.phi(ty);
        ir.add_incoming(both, as_doubles, fast);
        ir.add_incoming(both, lane_by_lane, after);
        both
    }

    /// 64-bit integers that doubles hold exactly; no divisor is 0.
    fn divide_doubles(&self, operands: [Val; 2], signed: bool, quotient: bool) -> Val {
        let ir = self.low.ir;
        let doubles = ir.vector(ir.double, self.width);
        let [a, b] = operands.map(|v| self.to_doubles(v, signed));
        let whole = ir.bin(Opcode::LLVMFDiv, a, b);
        let whole = ir.intrinsic("llvm.trunc", &[doubles], &[whole]);
        self.finished([a, b], whole, signed, quotient)
    }

    /// Integers of 64 bits, one or a vector, as doubles that hold them exactly.
    fn to_doubles(&self, v: Val, signed: bool) -> Val {
        let ir = self.low.ir;
        let ty = ir.type_of(v);
        let scale = if signed { SIGNED } else { UNSIGNED };
        let doubles = match ty == ir.i64 {
            true => ir.double,
            false => ir.vector(ir.double, self.width),
        };
        let v = ir.add(v, ir.int_const(ty, scale.bits));
        let v = ir.cast(Opcode::LLVMBitCast, v, doubles);
        ir.bin(Opcode::LLVMFSub, v, ir.float_const(doubles, scale.value))
    }

    /// The quotient `whole` of two vectors, or what it leaves, as integers of 64 bits.
    fn finished(&self, [a, b]: [Val; 2], whole: Val, signed: bool, quotient: bool) -> Val {
        let ir = self.low.ir;
        let scale = if signed { SIGNED } else { UNSIGNED };
        let ty = ir.vector(ir.i64, self.width);
        let made = match quotient {
            true => whole,
            false => ir.bin(Opcode::LLVMFSub, a, ir.bin(Opcode::LLVMFMul, whole, b)),
        };
        let doubles = ir.vector(ir.double, self.width);
        let made = ir.bin(Opcode::LLVMFAdd, made, ir.float_const(doubles, scale.value));
        let bits = ir.int_const(ty, scale.bits);
        ir.sub(ir.cast(Opcode::LLVMBitCast, made, ty), bits)
    }
}
