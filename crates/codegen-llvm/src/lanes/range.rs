//! Between which ends an integer lies that is made of a work-item's place in its group: then nothing need be tested
//! at run time to know that neighbours' values do not wrap around.

use kernel_ir::abi::MOST_ITEMS;
use kernel_ir::{
    BinaryOp, Builtin, Constant, ConvertOp, Function, Module, Op, Type, ValueDef, ValueId,
};

/// Operations that are followed.
const DEPTH: usize = 16;
/// Products of numbers up to here stay far from an `i128`'s ends.
const FAR: u128 = 1 << 62;

/// The ends of a number that equals the value modulo its width, both inside; `None` where nothing is known.
fn range(module: &Module, function: &Function, v: ValueId, depth: usize) -> Option<[i128; 2]> {
    let Type::Int(bits) = *module.types.get(function.ty(v)) else {
        return None;
    };
    let inst = match function.values[v.index()].def {
        ValueDef::Const(c) => {
            let Constant::Int(n) = *module.constants.get(c) else {
                return None;
            };
            let n = i128::from((n << (64 - bits)).cast_signed() >> (64 - bits));
            return (n.unsigned_abs() <= FAR).then_some([n, n]);
        }
        ValueDef::Inst(inst) => &function.insts[inst.index()],
        _ => return None,
    };
    let depth = depth.checked_sub(1)?;
    let of = |v: ValueId| range(module, function, v, depth);
    let within = |[low, high]: [i128; 2]| {
        let near = |n: i128| n.unsigned_abs() <= FAR;
        (near(low) && near(high)).then_some([low, high])
    };
    match &inst.op {
        Op::WorkItem(Builtin::LocalInvocationId | Builtin::LocalInvocationIndex, _) => {
            Some([0, i128::from(MOST_ITEMS) - 1])
        }
        Op::Copy(a) | Op::Convert(ConvertOp::Trunc, a, _) => of(*a),
        Op::Convert(op @ (ConvertOp::ZExt | ConvertOp::SExt), a, _) => {
            keeps(module, function, *op, *a, depth).then(|| of(*a))?
        }
        Op::Binary(BinaryOp::IAdd, a, b, _) => {
            let (a, b) = (of(*a)?, of(*b)?);
            within([a[0] + b[0], a[1] + b[1]])
        }
        Op::Binary(BinaryOp::ISub, a, b, _) => {
            let (a, b) = (of(*a)?, of(*b)?);
            within([a[0] - b[1], a[1] - b[0]])
        }
        Op::Binary(BinaryOp::IMul, a, b, _) => {
            let (a, b) = (of(*a)?, of(*b)?);
            let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
            within([*all.iter().min()?, *all.iter().max()?])
        }
        Op::Binary(BinaryOp::Shl, a, by, _) => {
            let ([low, high], [by, same]) = (of(*a)?, of(*by)?);
            let by = u32::try_from(by).ok().filter(|_| by == same && by < 32)?;
            within([low << by, high << by])
        }
        _ => None,
    }
}

/// Whether extending `v`, which is made of places in the group and differs by `steps` along a row, gives the number that
/// it was made as. Steps that do not fit its width were reckoned with constants that are not the numbers meant: -2 is
/// 65534 among integers of 16 bits.
pub(super) fn is_kept(
    module: &Module,
    function: &Function,
    op: ConvertOp,
    v: ValueId,
    steps: &[i64],
) -> bool {
    let Type::Int(bits) = *module.types.get(function.ty(v)) else {
        return false;
    };
    let fits = |step: &i64| step.unsigned_abs() < 1 << (bits - 1);
    steps.iter().all(fits) && keeps(module, function, op, v, DEPTH)
}

fn keeps(module: &Module, function: &Function, op: ConvertOp, v: ValueId, depth: usize) -> bool {
    let Type::Int(bits) = *module.types.get(function.ty(v)) else {
        return false;
    };
    let Some([low, high]) = range(module, function, v, depth) else {
        return false;
    };
    let [least, most] = match op {
        ConvertOp::SExt => [-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1],
        _ => [0, (1 << bits) - 1],
    };
    low >= least && high <= most
}
