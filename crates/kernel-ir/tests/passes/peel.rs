//! `vector_forms`: loops over barriers that are peeled, and loops that are not.

use super::whole::prepared;
use kernel_ir::passes::{Registers, vector_forms};
use kernel_ir::{Module, print, validate};

/// All vector forms of the only kernel, best first.
fn forms(text: &str) -> Vec<Module> {
    let mut module = prepared(text);
    let body = module.kernels[0].function;
    let registers = Registers {
        count: 16,
        bytes: 32,
        lanes: 16,
        reserved: 8,
        spill_cost: 3,
        load_cost: 3,
    };
    let forms = vector_forms(&mut module, body, registers);
    let mut bodies: Vec<_> = forms.into_iter().map(|form| form.function).collect();
    bodies.push(module.functions[body.index()].clone());
    let modules = bodies.into_iter().map(|f| {
        let mut module = module.clone();
        module.functions[body.index()] = f;
        validate(&module).unwrap_or_else(|e| panic!("{e}\n{}", print(&module)));
        module
    });
    modules.collect()
}

/// The best vector form of the only kernel.
fn best_form(text: &str) -> Module {
    forms(text).swap_remove(0)
}

/// A reduction tree of three iterations: the loop's phis, the end of its body, and the work of active work-items.
fn tree(phis: &str, next: &str, work: &str) -> String {
    format!(
        "kernel @k(%t: ptr<local>, %n: i64) {{
         e:
           %l: i64 = wi.LocalInvocationId 0
           br iteration
         iteration:
           {phis}
           barrier Workgroup
           %some: bool = cmp.ult %l, %d
           br_if %some, work, rest
         work:
           {work}
           br rest
         rest:
           {next}
         end:
           ret
         }}"
    )
}

const PHIS: &str = "%d: i64 = phi e: i64 4, rest: %d1
           %off: i64 = phi e: i64 1, rest: %off1";
const NEXT: &str = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = shl %off, i64 1
           %go: bool = cmp.ine %d1, i64 0
           br_if %go, iteration, end";
const WORK: &str = "%m: i64 = imul %l, %off
           %p: ptr<local> = offset %t [%m * 4 + 0]
           store %p, i32 1 align 4";

#[test]
fn a_stride_that_doubles_is_a_constant_in_each_peeled_iteration() {
    let body = print(&best_form(&tree(PHIS, NEXT, WORK)));
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    assert_eq!(
        lines.join("\n"),
        "kernel @k(%0: ptr<local>, %1: i64) {
b0:
%2: i64 = wi.LocalInvocationId 0
barrier Workgroup
%3: bool = cmp.ult %2, i64 4
br_if %3, b1, b2
b1:
%4: ptr<local> = offset %0 [%2 * 4 + 0]
store %4, i32 1 align 4
br b2
b2:
barrier Workgroup
%5: bool = cmp.ult %2, i64 2
br_if %5, b3, b4
b3:
%6: i64 = imul %2, i64 2
%7: ptr<local> = offset %0 [%6 * 4 + 0]
store %7, i32 1 align 4
br b4
b4:
barrier Workgroup
%8: bool = cmp.ieq %2, i64 0
br_if %8, b5, b6
b5:
%9: i64 = imul %2, i64 4
%10: ptr<local> = offset %0 [%9 * 4 + 0]
store %10, i32 1 align 4
br b6
b6:
ret
}"
    );
}

#[test]
fn only_counted_loops_with_small_strides_are_peeled() {
    let own = "%m: i64 = imul %n, %off
           %p: ptr<local> = offset %t [%m * 4 + 0]
           %q: ptr<local> = offset %p [%l * 4 + 0]
           store %q, i32 1 align 4";
    let shifted = "%m: i64 = shl %l, %off
           %p: ptr<local> = offset %t [%m * 4 + 0]
           %v: i32 = load %p align 4
           store %t, %v align 4";
    let hashed = "%h: i64 = and %l, i64 37
           %m: i64 = imul %h, %off
           %p: ptr<local> = offset %t [%m * 4 + 0]
           store %p, i32 1 align 4";
    let endless = "%d1: i64 = lshr %d, i64 0
           %off1: i64 = shl %off, i64 1
           %go: bool = cmp.ine %d1, i64 0
           br_if %go, iteration, end";
    let unknown = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = shl %off, i64 1
           %go: bool = cmp.ult %off1, %n
           br_if %go, iteration, end";
    let same = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = and %off, i64 7
           %go: bool = cmp.ine %d1, i64 0
           br_if %go, iteration, end";
    let two_ends = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = shl %off, i64 1
           %go: bool = cmp.ine %d1, i64 0
           br_if %go, more, end
         more:
           %early: bool = cmp.ieq %n, i64 3
           br_if %early, end, back
         back:
           br iteration";
    let given = "%d: i64 = phi e: i64 4, rest: %d1
           %off: i64 = phi e: %n, rest: %off1";
    let many = "%d: i64 = phi e: i64 65536, rest: %d1
           %off: i64 = phi e: i64 1, rest: %off1";
    let far = || PHIS.replace("e: i64 4", "e: i64 256");
    for (what, phis, next, work, iterations) in [
        ("a factor of the number of the lane", PHIS, NEXT, WORK, 3),
        ("a shift", PHIS, NEXT, shifted, 3),
        (
            "iterations that are not near stay a loop",
            &far(),
            NEXT,
            WORK,
            5,
        ),
        ("what all lanes add", PHIS, NEXT, own, 1),
        ("no stride with any factor", PHIS, NEXT, hashed, 1),
        ("no end", PHIS, endless, WORK, 1),
        ("an end that the launch decides", PHIS, unknown, WORK, 1),
        ("the same factor in each iteration", PHIS, same, WORK, 1),
        ("a factor that the launch decides", given, NEXT, WORK, 1),
        (
            "two ends",
            &PHIS.replace("rest:", "back:"),
            two_ends,
            WORK,
            1,
        ),
        ("seventeen iterations", many, NEXT, WORK, 1),
    ] {
        let text = print(&best_form(&tree(phis, next, work)));
        assert_eq!(
            text.matches("barrier Workgroup").count(),
            iterations,
            "{what}\n{text}"
        );
    }
}

/// Two loops, where the second continues with the values of the first.
#[test]
fn two_adjacent_loops_are_peeled() {
    let down = NEXT
        .replace("%go, iteration, end", "%go, iteration, iteration2")
        .to_string()
        + "
         iteration2:
           %c: i64 = phi rest: %d, rest2: %c1
           %far: i64 = phi rest: %off1, rest2: %far1
           %far1: i64 = lshr %far, i64 1
           barrier Workgroup
           %some2: bool = cmp.ult %l, %c
           br_if %some2, work2, rest2
         work2:
           %m2: i64 = imul %far1, %l
           %p2: ptr<local> = offset %t [%m2 * 4 + 0]
           store %p2, i32 2 align 4
           br rest2
         rest2:
           %c1: i64 = shl %c, i64 1
           %go2: bool = cmp.ult %c1, i64 8
           br_if %go2, iteration2, end";
    let text = print(&best_form(&tree(PHIS, &down, WORK)));
    assert_eq!(text.matches("barrier Workgroup").count(), 6, "{text}");
    assert!(!text.contains("phi"), "{text}");
}

/// Nine iterations, of which the last four have small strides: the loop ends before them.
#[test]
fn last_iterations_are_peeled() {
    let phis = "%d: i64 = phi e: i64 1, rest: %d1
           %off: i64 = phi e: i64 256, rest: %off1";
    let next = "%d1: i64 = shl %d, i64 1
           %off1: i64 = lshr %off, i64 1
           %go: bool = cmp.ine %off1, i64 0
           br_if %go, iteration, last
         last:
           store %t, %d align 8
           br end";
    let text = print(&best_form(&tree(phis, next, WORK)));
    assert_eq!(text.matches("barrier Workgroup").count(), 5, "{text}");
    assert_eq!(text.matches(" phi ").count(), 2, "{text}");
    // Code after the loop uses the values of the last iteration.
    assert!(text.contains("store %0, i64 256 align 8"), "{text}");
    for d in [32, 64, 128, 256] {
        assert!(text.contains(&format!(", i64 {d}\n")), "{d}: {text}");
    }
}

/// The form after the peeled one is not peeled, but if-converted.
#[test]
fn the_form_after_the_peeled_one_is_if_converted() {
    let arms = "%odd: bool = cmp.ult %l, %n
           br_if %odd, arm, both
         arm:
           %more: i64 = iadd %l, %off
           br both
         both:
           %v: i64 = phi work: %l, arm: %more";
    let flat = format!(
        "{arms}\n           {}",
        WORK.replace("i32 1 align 4", "%v align 8")
    );
    for (what, work, counts) in [
        ("neither", "store %t, i32 1 align 4", vec![(1, 2)]),
        ("iterations", WORK, vec![(3, 3), (1, 2)]),
        ("arms and iterations", &flat, vec![(3, 3), (1, 2), (1, 3)]),
    ] {
        let forms = forms(&tree(PHIS, NEXT, work));
        let found = forms.iter().map(|form| {
            let text = print(form);
            let [barriers, branches] =
                ["barrier Workgroup", "br_if"].map(|op| text.matches(op).count());
            (barriers, branches)
        });
        assert_eq!(found.collect::<Vec<_>>(), counts, "{what}");
    }
}
