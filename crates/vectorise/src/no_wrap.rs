//! Extensions of narrow integers that must not wrap around between neighbouring lanes: `a[(long)i]` is contiguous only
//! where `i` and `i + 1` are neighbours in 64 bits too.

use kernel_ir::passes::shape::Shapes;
use kernel_ir::{BinaryOp, ConvertOp, Function, Module, Op, Transform, UnaryOp, ValueDef, ValueId};

/// Operations from a value back to its ids, on one path and on all paths together: shared operands make paths
/// exponential. Not measured: bounds on compile time.
const DEPTH: usize = 16;
const VISITS: usize = 1000;
/// Extensions that are tested for one chunk at most. Not measured: a bound on the code of the tests.
const TESTS: usize = 32;

/// Whether `v` is computed from ids, arguments and constants by a few operations.
pub(crate) fn from_ids(function: &Function, v: ValueId) -> bool {
    made_of_ids(function, v, DEPTH, &mut 0)
}

fn made_of_ids(function: &Function, v: ValueId, depth: usize, visits: &mut usize) -> bool {
    *visits += 1;
    let ValueDef::Inst(inst) = function.values[v.index()].def else {
        return true;
    };
    if depth == 0 || *visits >= VISITS {
        return false;
    }
    let op = &function.insts[inst.index()].op;
    let simple = match op {
        Op::WorkItem(..) => true,
        Op::Binary(op, ..) => !matches!(
            op,
            BinaryOp::FRem
                | BinaryOp::FMod
                | BinaryOp::UDiv
                | BinaryOp::SDiv
                | BinaryOp::URem
                | BinaryOp::SRem
                | BinaryOp::SMod
        ),
        Op::Convert(..) | Op::Compare(..) | Op::Select { .. } | Op::Copy(_) => true,
        Op::Unary(op, ..) => *op == UnaryOp::Not,
        _ => false,
    };
    let mut all = simple;
    if all {
        op.operands(|v| all = all && made_of_ids(function, v, depth - 1, visits));
    }
    all
}

/// An operation that carries its operand into more bits, so that the operand must not wrap around from lane to lane:
/// extensions, and shifts to the right.
pub fn extension(op: &Op) -> Option<(ConvertOp, ValueId)> {
    match op {
        Op::Convert(op @ (ConvertOp::SExt | ConvertOp::ZExt), from, _) => Some((*op, *from)),
        Op::Binary(BinaryOp::AShr, from, ..) => Some((ConvertOp::SExt, *from)),
        Op::Binary(BinaryOp::LShr, from, ..) => Some((ConvertOp::ZExt, *from)),
        _ => None,
    }
}

/// Results of extensions that never wrap around, and of those that a test at the start of each chunk or row proves.
pub(crate) fn extensions(
    module: &Module,
    function: &Function,
    shapes: &Shapes,
) -> [Vec<ValueId>; 2] {
    let (mut certain, mut found) = (Vec::new(), Vec::new());
    for block in function.reverse_post_order() {
        for &inst in &function.blocks[block.index()].insts {
            let inst = &function.insts[inst.index()];
            let (Some((op, from)), Some(result)) = (extension(&inst.op), inst.result) else {
                continue;
            };
            let steps = |v: ValueId| shapes.of(v).step().is_some_and(|s| s != 0);
            if !(steps(from) && steps(result)) {
                continue;
            }
            if crate::range::is_kept(module, function, op, from) {
                certain.push(result);
            } else if from_ids(function, from) {
                found.push(result);
            }
        }
    }
    found.truncate(match module.uses(Transform::NoWrap) {
        true => TESTS,
        false => 0,
    });
    [certain, found]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_itself_twice_over_is_given_up_on() {
        for (line, made_of_ids) in [
            ("iadd X, X", true),
            ("select %c, X, %l", true),
            ("select %c, X, X", true),
            ("udiv X, X", false),
        ] {
            for count in [1, 4, 12, 15, 40] {
                let lines = (1..=count).map(|i| {
                    let x = if i == 1 {
                        "%l".into()
                    } else {
                        format!("%x{}", i - 1)
                    };
                    format!("  %x{i}: i64 = {}\n", line.replace('X', &x))
                });
                let text = format!(
                    "kernel @k(%out: ptr<global>, %n: i64) {{\nb0:\n  %l: i64 = wi.LocalInvocationId 0
  %c: bool = cmp.ult %l, %n\n{}  store %out, %x{count} align 8\n  ret\n}}",
                    lines.collect::<String>()
                );
                let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let function = &module.functions[0];
                let last = function.insts.iter().rev().find_map(|inst| inst.result);
                let last = last.expect("a chain");
                let mut visits = 0;
                let found = super::made_of_ids(function, last, DEPTH, &mut visits);
                assert!(visits <= VISITS + count, "{count} times {line:?}: {visits}");
                assert!(found == made_of_ids || count > 4, "{count} times {line:?}");
            }
        }
    }
}
