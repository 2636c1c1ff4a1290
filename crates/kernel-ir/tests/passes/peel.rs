//! `vector_forms`: loops over barriers that are unrolled for lanes, and those that stay.

use super::whole::prepared;
use kernel_ir::passes::{Registers, vector_forms};
use kernel_ir::{Module, print, validate};

/// The only kernel in all forms that lanes may run, the best first.
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
    let mut bodies = vector_forms(&mut module, body, registers);
    bodies.push(module.functions[body.index()].clone());
    let modules = bodies.into_iter().map(|f| {
        let mut module = module.clone();
        module.functions[body.index()] = f;
        validate(&module).unwrap_or_else(|e| panic!("{e}\n{}", print(&module)));
        module
    });
    modules.collect()
}

/// The only kernel as lanes run it.
fn for_lanes(text: &str) -> Module {
    forms(text).swap_remove(0)
}

/// A tree of three turns: the loop's phis, the end of its turn, and what work-items do that take part.
fn tree(phis: &str, next: &str, work: &str) -> String {
    format!(
        "kernel @k(%t: ptr<local>, %n: i64) {{
         e:
           %l: i64 = wi.LocalInvocationId 0
           br turn
         turn:
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
           br_if %go, turn, end";
const WORK: &str = "%m: i64 = imul %l, %off
           %p: ptr<local> = offset %t [%m * 4 + 0]
           store %p, i32 1 align 4";

#[test]
fn a_stride_that_doubles_is_a_constant_in_each_turn() {
    let body = print(&for_lanes(&tree(PHIS, NEXT, WORK)));
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
fn only_what_pays_and_can_be_counted_is_unrolled() {
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
           br_if %go, turn, end";
    let unknown = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = shl %off, i64 1
           %go: bool = cmp.ult %off1, %n
           br_if %go, turn, end";
    let same = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = and %off, i64 7
           %go: bool = cmp.ine %d1, i64 0
           br_if %go, turn, end";
    let two_ends = "%d1: i64 = lshr %d, i64 1
           %off1: i64 = shl %off, i64 1
           %go: bool = cmp.ine %d1, i64 0
           br_if %go, more, end
         more:
           %early: bool = cmp.ieq %n, i64 3
           br_if %early, end, back
         back:
           br turn";
    let given = "%d: i64 = phi e: i64 4, rest: %d1
           %off: i64 = phi e: %n, rest: %off1";
    let many = "%d: i64 = phi e: i64 65536, rest: %d1
           %off: i64 = phi e: i64 1, rest: %off1";
    let far = || PHIS.replace("e: i64 4", "e: i64 256");
    for (what, phis, next, work, turns) in [
        ("a factor of the number of the lane", PHIS, NEXT, WORK, 3),
        ("a shift", PHIS, NEXT, shifted, 3),
        ("turns that are not near stay a loop", &far(), NEXT, WORK, 5),
        ("what all lanes add", PHIS, NEXT, own, 1),
        ("no stride with any factor", PHIS, NEXT, hashed, 1),
        ("no end", PHIS, endless, WORK, 1),
        ("an end that the launch decides", PHIS, unknown, WORK, 1),
        ("the same factor in each turn", PHIS, same, WORK, 1),
        ("a factor that the launch decides", given, NEXT, WORK, 1),
        (
            "two ends",
            &PHIS.replace("rest:", "back:"),
            two_ends,
            WORK,
            1,
        ),
        ("seventeen turns", many, NEXT, WORK, 1),
    ] {
        let text = print(&for_lanes(&tree(phis, next, work)));
        assert_eq!(
            text.matches("barrier Workgroup").count(),
            turns,
            "{what}\n{text}"
        );
    }
}

/// One after the other: the second begins with what the first ended with.
#[test]
fn a_way_up_and_a_way_down() {
    let down = NEXT
        .replace("%go, turn, end", "%go, turn, turn2")
        .to_string()
        + "
         turn2:
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
           br_if %go2, turn2, end";
    let text = print(&for_lanes(&tree(PHIS, &down, WORK)));
    assert_eq!(text.matches("barrier Workgroup").count(), 6, "{text}");
    assert!(!text.contains("phi"), "{text}");
}

/// Nine turns to neighbours, of which the last four are near: the loop ends before them.
#[test]
fn near_turns_at_the_end() {
    let phis = "%d: i64 = phi e: i64 1, rest: %d1
           %off: i64 = phi e: i64 256, rest: %off1";
    let next = "%d1: i64 = shl %d, i64 1
           %off1: i64 = lshr %off, i64 1
           %go: bool = cmp.ine %off1, i64 0
           br_if %go, turn, last
         last:
           store %t, %d align 8
           br end";
    let text = print(&for_lanes(&tree(phis, next, WORK)));
    assert_eq!(text.matches("barrier Workgroup").count(), 5, "{text}");
    assert_eq!(text.matches(" phi ").count(), 2, "{text}");
    // Behind it stands what the last turn had.
    assert!(text.contains("store %0, i64 256 align 8"), "{text}");
    for d in [32, 64, 128, 256] {
        assert!(text.contains(&format!(", i64 {d}\n")), "{d}: {text}");
    }
}

/// Who finds the unrolled form too large is given one that has neither turns more nor branches on little work.
#[test]
fn the_form_behind_the_unrolled_one_is_flat() {
    let sides = "%odd: bool = cmp.ult %l, %n
           br_if %odd, side, both
         side:
           %more: i64 = iadd %l, %off
           br both
         both:
           %v: i64 = phi work: %l, side: %more";
    let flat = format!(
        "{sides}\n           {}",
        WORK.replace("i32 1 align 4", "%v align 8")
    );
    for (what, work, counts) in [
        ("neither", "store %t, i32 1 align 4", vec![(1, 2)]),
        ("turns", WORK, vec![(3, 3), (1, 2)]),
        ("sides and turns", &flat, vec![(3, 3), (1, 2), (1, 3)]),
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
