//! Ranges of integers that are computed from a work-item's place in its group. They prove without a test at run time
//! that neighbours' values do not wrap around.
//!
//! ```text
//! %l: i32 = wi.LocalInvocationId 0    0 to MOST_ITEMS - 1
//! %m: i32 = imul %l, i32 4            0 to 4 * (MOST_ITEMS - 1)
//! %n: i64 = to.sext %m                the same: %m does not wrap around in 32 bits
//! ```

use kernel_ir::abi::MOST_ITEMS;
use kernel_ir::{BinaryOp, Builtin, ConvertOp, Function, Module, Op, Type, ValueDef, ValueId};

/// Operations from an integer back to its origin, on one path and on all paths together: shared operands make paths
/// exponential. Not measured: bounds on compile time.
const DEPTH: usize = 16;
const VISITS: usize = 256;
/// Largest bound: products of two fit an `i128`.
const FAR: u128 = 1 << 62;

struct Search<'s> {
    module: &'s Module,
    function: &'s Function,
    visits: usize,
}

impl Search<'_> {
    /// The bounds, both inclusive, of a number that equals the value modulo its width; `None` where nothing is known.
    fn range(&mut self, v: ValueId, depth: usize) -> Option<[i128; 2]> {
        self.visits += 1;
        if !matches!(self.module.types.get(self.function.ty(v)), Type::Int(_)) {
            return None;
        }
        let inst = match self.function.values[v.index()].def {
            ValueDef::Const(_) => {
                let n = i128::from(self.module.known_signed(self.function, v)?);
                return (n.unsigned_abs() <= FAR).then_some([n, n]);
            }
            ValueDef::Inst(inst) => &self.function.insts[inst.index()],
            _ => return None,
        };
        let depth = depth.checked_sub(1).filter(|_| self.visits < VISITS)?;
        let within = |[low, high]: [i128; 2]| {
            let near = |n: i128| n.unsigned_abs() <= FAR;
            (near(low) && near(high)).then_some([low, high])
        };
        match &inst.op {
            Op::WorkItem(Builtin::LocalInvocationId | Builtin::LocalInvocationIndex, _) => {
                Some([0, i128::from(MOST_ITEMS) - 1])
            }
            Op::Copy(a) | Op::Convert(ConvertOp::Trunc, a, _) => self.range(*a, depth),
            Op::Convert(op @ (ConvertOp::ZExt | ConvertOp::SExt), a, _) => {
                self.extended(*op, *a, depth)
            }
            Op::Binary(op, a, b, _) => {
                let (a, b) = (self.range(*a, depth)?, self.range(*b, depth)?);
                match op {
                    BinaryOp::IAdd => within([a[0] + b[0], a[1] + b[1]]),
                    BinaryOp::ISub => within([a[0] - b[1], a[1] - b[0]]),
                    BinaryOp::IMul => {
                        let all = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]];
                        within([*all.iter().min()?, *all.iter().max()?])
                    }
                    BinaryOp::Shl => {
                        let [by, same] = b;
                        let by = u32::try_from(by).ok().filter(|_| by == same && by < 32)?;
                        within(a.map(|end| end << by))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The bounds of `v`, if extending it keeps its mathematical value.
    fn extended(&mut self, op: ConvertOp, v: ValueId, depth: usize) -> Option<[i128; 2]> {
        let Type::Int(bits) = *self.module.types.get(self.function.ty(v)) else {
            return None;
        };
        let [least, most] = match op {
            ConvertOp::SExt => [-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1],
            _ => [0, (1 << bits) - 1],
        };
        let ends = self.range(v, depth);
        ends.filter(|[low, high]| *low >= least && *high <= most)
    }
}

/// Whether extending `v`, which is computed from places in the group, keeps its mathematical value, in the sense of
/// [`Module::known_signed`]. Steps along a row count with that value.
pub(crate) fn is_kept(module: &Module, function: &Function, op: ConvertOp, v: ValueId) -> bool {
    let mut search = Search {
        module,
        function,
        visits: 0,
    };
    search.extended(op, v, DEPTH).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range of the last value of a chain of such lines, and the number of operations visited. Each line makes `Y`
    /// of `X`, the value before; the first value is a place in the group.
    fn chain(count: usize, line: &str) -> (Option<[i128; 2]>, usize) {
        let lines = (0..count).map(|i| {
            let names = [("X", format!("%x{i}")), ("Y", format!("%x{}", i + 1))];
            let names = names.into_iter().chain([("T", format!("%t{i}"))]);
            names.fold(line.to_string(), |line, (of, name)| line.replace(of, &name))
        });
        let lines: Vec<String> = lines.collect();
        let text = format!(
            "kernel @k(%out: ptr<global>) {{
b0:
  %x0: i32 = wi.LocalInvocationId 0
  {}
  store %out, %x{count} align 4
  ret
}}",
            lines.join("\n  ")
        );
        let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let function = &module.functions[0];
        let last = function.insts.iter().rev().find_map(|inst| inst.result);
        let mut search = Search {
            module: &module,
            function,
            visits: 0,
        };
        let found = search.range(last.expect("a chain"), DEPTH);
        (found, search.visits)
    }

    #[test]
    fn what_is_made_of_itself_twice_over_is_given_up_on() {
        for line in [
            "Y: i32 = iadd X, X",
            "Y: i32 = isub X, X",
            "Y: i32 = imul X, X",
            "T: i64 = to.zext X\n  Y: i32 = to.trunc T",
            "T: i64 = to.sext X\n  Y: i32 = to.trunc T",
            "T: i32 = iadd X, X\n  Y: i32 = isub T, X",
        ] {
            for count in 1..=2 * DEPTH {
                let (found, visits) = chain(count, line);
                assert!(visits <= VISITS, "{count} times {line:?}: {visits}");
                assert!(found.is_some() || count > 1, "{count} times {line:?}");
            }
        }
    }

    #[test]
    fn each_operation_moves_the_ends() {
        let last = i128::from(MOST_ITEMS) - 1;
        for (line, ends) in [
            ("Y: i32 = iadd X, X", [0, 2 * last]),
            ("Y: i32 = isub X, i32 7", [-7, last - 7]),
            ("Y: i32 = isub i32 7, X", [7 - last, 7]),
            ("Y: i32 = imul X, i32 4294967293", [-3 * last, 0]),
            ("Y: i32 = shl X, i32 5", [0, last << 5]),
            ("T: i16 = to.trunc X\n  Y: i32 = to.zext T", [0, last]),
        ] {
            assert_eq!(chain(1, line).0, Some(ends), "{line}");
        }
        for line in [
            "Y: i32 = and X, i32 3",
            "Y: i32 = shl X, i32 33",
            "T: i16 = to.trunc X\n  Y: i32 = to.sext T",
        ] {
            assert_eq!(chain(1, line).0, None, "{line}");
        }
    }
}
