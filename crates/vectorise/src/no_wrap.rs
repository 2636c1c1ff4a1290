//! Extensions of narrow integers that must not wrap around between neighbouring lanes: `a[(long)i]` is contiguous only
//! where `i` and `i + 1` are neighbours in 64 bits too.

use kernel_ir::index::{IndexFacts, extension};
use kernel_ir::passes::shape::Shapes;
use kernel_ir::{Function, Module, Transform, ValueId};

/// Operations on the longest path from ids to a value: a bound on the code of a test. Largest in 17,722 modules of dpctl
/// and dpnp: 10; in our corpora: 10 (2026-11).
const DEPTH: u32 = 16;
/// Operations and operands on all paths from ids to a value: a bound on the code of a test. Largest in 17,722 modules of
/// dpctl and dpnp: 16; in our corpora: 37 (2026-11).
const SIZE: u32 = 256;
/// Extensions that are tested for one chunk at most: a bound on the code of the tests. Largest in 17,722 modules of dpctl
/// and dpnp: 6. Of our corpora one kernel exceeds it, with 36 (2026-11).
const TESTS: usize = 32;

/// Whether `v` is computed from ids, arguments and constants by a few operations.
pub(crate) fn from_ids(facts: &IndexFacts<'_>, v: ValueId) -> bool {
    facts.from_ids(v).is_some_and(|made| {
        kernel_ir::reach!(DEPTH, made.depth);
        kernel_ir::reach!(SIZE, made.size);
        made.depth <= DEPTH && made.size <= SIZE
    })
}

/// Results of extensions that never wrap around, and of those that a test at the start of each chunk or row proves.
pub(crate) fn extensions(
    module: &Module,
    function: &Function,
    shapes: &Shapes,
) -> [Vec<ValueId>; 2] {
    let facts = IndexFacts::new(module, function);
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
            if facts.cannot_wrap(op, from) {
                certain.push(result);
            } else if from_ids(&facts, from) {
                found.push(result);
            }
        }
    }
    kernel_ir::reach!(TESTS, found.len());
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
    fn long_and_wide_computations_are_not_repeated() {
        for (line, count, is_short) in [
            ("iadd X, %n", 15, true),
            ("iadd X, %n", 16, false),
            ("iadd X, X", 7, true),
            ("iadd X, X", 8, false),
            ("udiv X, %n", 1, false),
        ] {
            let lines = (1..=count).map(|i| {
                let line = line.replace('X', &format!("%x{}", i - 1));
                format!("  %x{i}: i64 = {line}\n")
            });
            let text = format!(
                "kernel @k(%out: ptr<global>, %n: i64) {{
b0:
  %x0: i64 = wi.LocalInvocationId 0
{}  store %out, %x{count} align 8
  ret
}}",
                lines.collect::<String>()
            );
            let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let function = &module.functions[0];
            let last = function.insts.iter().rev().find_map(|inst| inst.result);
            let facts = IndexFacts::new(&module, function);
            let found = from_ids(&facts, last.expect("a chain"));
            assert_eq!(found, is_short, "{count} times {line:?}");
        }
    }
}
