//! Floating-point contraction: a product whose only use is a sum becomes a fused multiply-add, where the kernel permits
//! it.
//!
//! Contraction happens here and not in a back end, so that every form of a kernel (vectorised, one work-item at a time,
//! baseline, interpreted) rounds alike.

use crate::ir::{BinaryOp, Flags, Function, InstId, Op, UnaryOp, ValueDef, ValueId};
use crate::op::MathFn;
use crate::types::{Type, Types};

/// Flags of an instruction that permit contraction: AllowContract and Fast.
const CONTRACT_FLAGS: u32 = 0x1_0000 | 16;

/// Contracts products and sums of `f` for floats of the `widths` given in bits. With `all` every instruction may be
/// contracted, else only those whose flags permit it.
pub fn contract(types: &Types, f: &mut Function, widths: &[u8], all: bool) {
    let permitted = |flags: Flags| {
        flags.fast & Flags::ROUNDED == 0 && (all || flags.fast & CONTRACT_FLAGS != 0)
    };
    let mut uses = vec![0u32; f.values.len()];
    let insts = f.blocks.iter().flat_map(|block| &block.insts);
    for inst in insts {
        f.insts[inst.index()].op.operands(|v| uses[v.index()] += 1);
    }
    for v in f.blocks.iter().filter_map(|block| block.term.operand()) {
        uses[v.index()] += 1;
    }
    for at in 0..f.blocks.len() {
        let mut insts = Vec::with_capacity(f.blocks[at].insts.len());
        for id in std::mem::take(&mut f.blocks[at].insts) {
            if let Op::Binary(op @ (BinaryOp::FAdd | BinaryOp::FSub), a, b, flags) =
                f.insts[id.index()].op
                && permitted(flags)
                && has_width(types, f, a, widths)
            {
                let product = |v: ValueId| {
                    let product = product(f, v, &uses)?;
                    permitted(product.flags).then_some(product)
                };
                // Of two products the first one, like LLVM.
                let found = match product(a) {
                    Some(product) => Some((product, b, op == BinaryOp::FSub, false)),
                    None => product(b).map(|product| (product, a, false, op == BinaryOp::FSub)),
                };
                if let Some((product, other, negates_other, negates_product)) = found {
                    let mut negated = |f: &mut Function, v: ValueId| {
                        let ty = f.ty(v);
                        let inst = InstId(f.insts.len() as u32);
                        let value = f.add_value(ty, ValueDef::Inst(inst));
                        f.insts.push(crate::ir::Inst {
                            op: Op::Unary(UnaryOp::FNeg, v, flags),
                            result: Some(value),
                            word: f.insts[id.index()].word,
                        });
                        insts.push(inst);
                        value
                    };
                    let x = match product.negative != negates_product {
                        true => negated(f, product.x),
                        false => product.x,
                    };
                    let z = match negates_other {
                        true => negated(f, other),
                        false => other,
                    };
                    crate::mark!(Contraction);
                    f.insts[id.index()].op = Op::Math(MathFn::Fma, vec![x, product.y, z], flags);
                }
            }
            insts.push(id);
        }
        f.blocks[at].insts = insts;
    }
    super::edit::drop_dead(f);
}

/// The factors of a product that has no other use.
struct Product {
    x: ValueId,
    y: ValueId,
    negative: bool,
    flags: Flags,
}

fn product(f: &Function, v: ValueId, uses: &[u32]) -> Option<Product> {
    let made = |v: ValueId| match f.values[v.index()].def {
        ValueDef::Inst(inst) if uses.get(v.index()) == Some(&1) => Some(&f.insts[inst.index()].op),
        _ => None,
    };
    let (op, negative) = match made(v)? {
        Op::Unary(UnaryOp::FNeg, of, _) => (made(*of)?, true),
        op => (op, false),
    };
    match *op {
        Op::Binary(BinaryOp::FMul, x, y, flags) => Some(Product {
            x,
            y,
            negative,
            flags,
        }),
        _ => None,
    }
}

fn has_width(types: &Types, f: &Function, v: ValueId, widths: &[u8]) -> bool {
    let scalar = types.scalar_of(f.ty(v)).map(|ty| types.get(ty));
    matches!(scalar, Some(Type::Float(bits)) if widths.contains(bits))
}
