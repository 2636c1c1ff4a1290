//! Shapes of values under uniform and divergent control flow.

use kernel_ir::passes::shape::{LaneScope, Shape, Shapes, shapes};
use kernel_ir::{BlockId, Module, ValueId, parse, validate};

fn analysed(text: &str, lanes: LaneScope) -> (Module, Shapes) {
    let header = "kernel @k(%p: ptr<global>, %n: i32, %c: bool, %z: i64) {\n";
    let module = parse(&format!("{header}{text}\n}}\n")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    validate(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let shapes = shapes(&module, &module.functions[0], lanes);
    (module, shapes)
}

/// The shape of the value stored by the first store of the function.
fn stored(module: &Module, shapes: &Shapes) -> (Shape, bool) {
    let f = &module.functions[0];
    let value: Option<ValueId> =
        f.blocks
            .iter()
            .flat_map(|b| &b.insts)
            .find_map(|i| match f.insts[i.index()].op {
                kernel_ir::Op::Store { value, .. } => Some(value),
                _ => None,
            });
    let Some(value) = value else {
        panic!("the function stores nothing");
    };
    (shapes.of(value), shapes.assumes_no_wrap(value))
}

#[test]
fn arithmetic_keeps_strides() {
    use Shape::{Contiguous, Strided, Uniform, Varying};
    for (code, expected) in [
        ("%v: i64 = wi.GlobalInvocationId 0", Contiguous),
        ("%v: i64 = wi.GlobalInvocationId 1", Uniform),
        ("%v: i64 = wi.GroupSize 0", Uniform),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: i64 = iadd %i, %z",
            Contiguous,
        ),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: i64 = isub %z, %i",
            Strided(-1),
        ),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: i64 = imul %i, i64 12",
            Strided(12),
        ),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: i64 = imul %i, %z",
            Varying,
        ),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: i64 = isub %i, %i",
            Uniform,
        ),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: i64 = and %i, i64 3",
            Varying,
        ),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %v: ptr<global> = offset %p [%i * 4 + 8]",
            Strided(4),
        ),
        ("%v: i32 = load %p align 4", Uniform),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %q: ptr<global> = offset %p [%i * 4 + 0]\n %v: i32 = load %q align 4",
            Varying,
        ),
        ("%v: i32 = atomic.iadd Device Relaxed %p, %n", Varying),
        ("%v: i32 = group.reduce.iadd Subgroup %n", Uniform),
        ("%v: i32 = group.inclusive_scan.iadd Subgroup %n", Varying),
        ("%v: ptr<private> = alloca 4 align 4", Varying),
        (
            "%i: i64 = wi.GlobalInvocationId 0\n %b: bool = cmp.ult %i, i64 4\n %v: i32 = select %b, %n, i32 0",
            Varying,
        ),
        ("%v: i32 = select %c, %n, i32 0", Uniform),
    ] {
        let code = code.replace("wi.GroupSize", "wi.WorkgroupSize");
        let (module, shapes) = analysed(
            &format!("e:\n {code}\n store %p, %v align 1\n ret"),
            LaneScope::Row,
        );
        assert_eq!(stored(&module, &shapes).0, expected, "{code}");
    }
    let (module, shapes) = analysed(
        "e:\n %i: i64 = wi.GlobalInvocationId 0\n %t: i32 = to.trunc %i\n %a: i32 = iadd %t, %n\n\
         %v: i64 = to.sext %a\n store %p, %v align 1\n ret",
        LaneScope::Row,
    );
    assert_eq!(stored(&module, &shapes), (Contiguous, true));
    let (module, shapes) = analysed(
        "e:\n %v: i64 = wi.GlobalInvocationId 0\n store %p, %v align 1\n ret",
        LaneScope::Group,
    );
    assert_eq!(stored(&module, &shapes).0, Varying);
}

/// An `if` on `cond` with a phi of two constants behind it.
fn diamond(cond: &str) -> (Module, Shapes) {
    analysed(
        &format!(
            "e:
               %i: i64 = wi.LocalInvocationIndex 0
               %d: bool = cmp.ult %i, i64 3
               br_if {cond}, x, y
             x:
               br z
             y:
               br z
             z:
               %v: i32 = phi x: i32 1, y: i32 2
               store %p, %v align 4
               ret"
        ),
        LaneScope::Row,
    )
}

#[test]
fn phis_of_divergent_joins_vary() {
    let (module, shapes) = diamond("%d");
    assert_eq!(stored(&module, &shapes).0, Shape::Varying);
    assert!(shapes.is_divergent(BlockId(0)));
    assert!(shapes.is_masked(BlockId(1)) && shapes.is_masked(BlockId(2)));
    assert!(!shapes.is_masked(BlockId(3)));
    let (module, shapes) = diamond("%c");
    assert_eq!(stored(&module, &shapes).0, Shape::Uniform);
    assert!(!shapes.is_divergent(BlockId(0)) && !shapes.is_masked(BlockId(1)));
}

#[test]
fn a_uniform_loop_in_a_divergent_branch_stays_uniform() {
    let (module, shapes) = analysed(
        "e:
           %i: i64 = wi.LocalInvocationIndex 0
           %d: bool = cmp.ult %i, i64 3
           br_if %d, x, z
         x:
           %j: i32 = phi e: i32 0, x: %k
           store %p, %j align 4
           %k: i32 = iadd %j, i32 1
           %again: bool = cmp.slt %k, %n
           br_if %again, x, z
         z:
           ret",
        LaneScope::Row,
    );
    assert_eq!(stored(&module, &shapes).0, Shape::Uniform);
    assert!(!shapes.is_divergent_loop(0));
    assert!(shapes.is_masked(BlockId(1)) && !shapes.is_masked(BlockId(2)));
}

#[test]
fn values_of_a_divergent_loop_vary_after_it() {
    let text = |bound: &str| {
        format!(
            "e:
               %i: i64 = wi.LocalInvocationIndex 0
               %t: i32 = to.trunc %i
               br x
             x:
               %j: i32 = phi e: i32 0, x: %k
               %k: i32 = iadd %j, i32 1
               %again: bool = cmp.slt %k, {bound}
               br_if %again, x, z
             z:
               %v: i32 = iadd %k, i32 5
               store %p, %v align 4
               ret"
        )
    };
    let (module, shapes) = analysed(&text("%t"), LaneScope::Row);
    assert_eq!(stored(&module, &shapes).0, Shape::Varying);
    assert!(shapes.is_divergent_loop(0) && shapes.is_masked(BlockId(1)));
    assert!(!shapes.is_masked(BlockId(2)));
    let (module, shapes) = analysed(&text("%n"), LaneScope::Row);
    assert_eq!(stored(&module, &shapes).0, Shape::Uniform);
    assert!(!shapes.is_divergent_loop(0));
}

#[test]
fn a_divergent_break_moves_the_join_behind_the_exits() {
    let (module, shapes) = analysed(
        "e:
           %i: i64 = wi.LocalInvocationIndex 0
           %t: i32 = to.trunc %i
           br x
         x:
           %j: i32 = phi e: i32 0, y: %k
           %early: bool = cmp.ieq %j, %t
           br_if %early, out, y
         y:
           %k: i32 = iadd %j, i32 1
           %again: bool = cmp.slt %k, %n
           br_if %again, x, done
         out:
           br z
         done:
           br z
         z:
           %v: i32 = phi out: i32 1, done: i32 0
           store %p, %v align 4
           ret",
        LaneScope::Row,
    );
    assert!(shapes.is_divergent_loop(0));
    assert_eq!(stored(&module, &shapes).0, Shape::Varying);
}

#[test]
fn values_of_irreducible_loops_vary() {
    let (module, shapes) = analysed(
        "e:
           %i: i64 = wi.LocalInvocationIndex 0
           %d: bool = cmp.ult %i, i64 3
           br_if %d, a, b
         a:
           %x: i32 = phi e: i32 0, b: %y
           store %p, %x align 4
           br_if %c, b, q
         b:
           %y: i32 = phi e: i32 1, a: %x
           br a
         q:
           ret",
        LaneScope::Row,
    );
    assert_eq!(stored(&module, &shapes).0, Shape::Varying);
}

#[test]
fn a_loop_after_a_divergent_branch_stays_uniform() {
    for (start, expected) in [("i32 0", Shape::Uniform), ("i32 1", Shape::Varying)] {
        let (module, shapes) = analysed(
            &format!(
                "e:
                   %i: i64 = wi.LocalInvocationIndex 0
                   %first: bool = cmp.ieq %i, i64 0
                   br_if %first, one, x
                 one:
                   br x
                 x:
                   %j: i32 = phi e: i32 0, one: {start}, x: %k
                   %k: i32 = iadd %j, i32 1
                   %again: bool = cmp.slt %k, %n
                   br_if %again, x, z
                 z:
                   store %p, %k align 4
                   ret"
            ),
            LaneScope::Group,
        );
        assert_eq!(stored(&module, &shapes).0, expected, "{start}");
        assert_eq!(shapes.is_divergent_loop(0), expected == Shape::Varying);
    }
}

#[test]
fn index_arithmetic_keeps_its_stride_as_front_ends_write_it() {
    use Shape::{Strided, Varying};
    for (code, expected) in [
        ("%v: i64 = and %i, i64 4294967295", Shape::Contiguous),
        ("%v: i64 = and i64 4294967295, %i", Shape::Contiguous),
        ("%v: i64 = and %i, i64 4294967294", Varying),
        (
            "%d: i64 = imul %i, i64 4\n %v: i64 = or %d, i64 3",
            Strided(4),
        ),
        (
            "%d: i64 = shl %i, i64 1\n %v: i64 = or %d, i64 1",
            Strided(2),
        ),
        ("%d: i64 = shl %i, i64 1\n %v: i64 = or %d, i64 2", Varying),
        ("%v: i64 = or %i, i64 1", Varying),
    ] {
        let header = "kernel @k(%p: ptr<global>) {\n e:\n %i: i64 = wi.GlobalInvocationId 0\n";
        let module = super::whole::prepared(&format!(
            "{header}{code}\n store %p, %v align 8\n ret\n}}\n"
        ));
        let shapes = shapes(&module, &module.functions[0], LaneScope::Row);
        assert_eq!(stored(&module, &shapes).0, expected, "{code}");
    }
}
