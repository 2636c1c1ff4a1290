//! Checks of indices that ids and arguments decide: the copy of a kernel without them, and the conditions before it.

use super::whole::prepared;
use kernel_ir::print;

/// A kernel with `lines`, which jump to block `end`. `CHECK x %i %len e` makes `%x` the element `%i` of `%a`, or 77 where
/// `%i` is not less than `%len`, after block `e`.
fn kernel(lines: &str) -> String {
    let mut text = String::new();
    for line in lines.lines() {
        let line = line.trim();
        match line.strip_prefix("CHECK ") {
            Some(words) => {
                let [name, index, bound, from] = words.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{line}");
                };
                let bound = bound.replace('_', " ");
                text += &format!(
                    "%in{name}: bool = cmp.ult {index}, {bound}
                     br_if %in{name}, load{name}, join{name}
                     load{name}:
                     %p{name}: ptr<global> = offset %a [{index} * 4 + 0]
                     %v{name}: i32 = load %p{name} align 4
                     br join{name}
                     join{name}:
                     %{name}: i32 = phi {from}: i32 77, load{name}: %v{name}\n"
                );
            }
            None => text += &format!("{line}\n"),
        }
    }
    format!(
        "kernel @k(%a: ptr<global>, %len: i64, %out: ptr<global>, %n: i32, %m: i64) {{
         e:
         %g: i64 = wi.GlobalInvocationId 0
         %g32: i32 = to.trunc %g
         {text}
         end:
         ret
         }}"
    )
}

/// A loop over `%k`, an integer of so many bits, with the lines of its body, which end in block `last`.
fn counted(bits: u32, first: &str, step: i64, stay: &str, body: &str, last: &str) -> String {
    format!(
        "br head
         head:
         %k: i{bits} = phi e: {first}, {last}: %next
         {body}
         %to: ptr<global> = offset %out [%g * 4 + 0]
         store %to, %x align 4
         %next: i{bits} = iadd %k, i{bits} {}
         %more: bool = cmp.{stay}
         br_if %more, head, end",
        step.cast_unsigned() & (u64::MAX >> (64 - bits))
    )
}

/// Checks in all copies: those that are left read 77 outside.
fn checks_left(text: &str) -> usize {
    print(&prepared(text)).matches("i32 77").count()
}

#[test]
fn indices_that_ids_and_arguments_decide_lose_their_checks() {
    let loads = |index: &str| format!("{index}\nCHECK x %i %len head");
    for (bits, first, step, stay, index) in [
        (64, "i64 0", 1, "ult %next, %m", "%i: i64 = iadd %k, %g"),
        (64, "i64 0", 1, "ine %next, i64 40", "%i: i64 = iadd %k, %g"),
        (64, "i64 7", 1, "ule %next, %m", "%i: i64 = iadd %k, %g"),
        (64, "i64 0", 5, "ult %next, %m", "%i: i64 = imul %k, %m"),
        (
            64,
            "%m",
            -1,
            "ugt %next, i64 0",
            "%i: i64 = iadd %k, i64 18446744073709551615",
        ),
        (
            32,
            "i32 0",
            1,
            "ult %next, %n",
            "%j: i32 = iadd %k, %g32\n%i: i64 = to.zext %j",
        ),
        (
            32,
            "i32 0",
            1,
            "slt %next, %n",
            "%j: i32 = imul %k, %n\n%i: i64 = to.sext %j",
        ),
        (
            32,
            "i32 0",
            1,
            "ult %next, %n",
            "%j: i32 = and %g32, i32 7\n%i: i64 = to.zext %j",
        ),
        (
            32,
            "i32 0",
            1,
            "ult %next, %n",
            "%j: i32 = imul %g32, %n\n%i: i64 = to.zext %j",
        ),
        (
            32,
            "i32 0",
            1,
            "ult %next, %n",
            "%j: i32 = smax %g32, i32 0\n%l: i32 = smin %j, %n\n%i: i64 = to.zext %l",
        ),
    ] {
        let text = kernel(&counted(bits, first, step, stay, &loads(index), "joinx"));
        let after = print(&prepared(&text));
        assert!(after.contains("assume"), "{stay}, {index}:\n{after}");
        // Of the two copies one has the check.
        assert_eq!(checks_left(&text), 1, "{stay}, {index}:\n{after}");
    }
}

#[test]
fn other_indices_keep_their_checks() {
    let loads = |index: &str| format!("{index}\nCHECK x %i %len head");
    for (first, step, stay, index) in [
        // From memory, or without an end.
        ("i64 0", 1, "ult %next, %m", "%i: i64 = load %out align 8"),
        ("i64 0", 1, "ult %g, %m", "%i: i64 = iadd %k, %g"),
        // The counter passes its end, or the loop is left at another number.
        ("i64 0", 3, "ine %next, %m", "%i: i64 = iadd %k, %g"),
        ("i64 0", 1, "ugt %next, %m", "%i: i64 = iadd %k, %g"),
        ("%m", -1, "ult %next, i64 50", "%i: i64 = iadd %k, %g"),
        ("i64 0", 1, "ult %next, %m", "%i: i64 = udiv %k, %g"),
        ("i64 0", 1, "ult %next, %m", "%i: i64 = xor %k, %g"),
    ] {
        let text = kernel(&counted(64, first, step, stay, &loads(index), "joinx"));
        let after = print(&prepared(&text));
        assert!(!after.contains("assume"), "{stay}, {index}:\n{after}");
    }
}

/// It wraps around before it meets its end, whatever a comparison before the loop says.
#[test]
fn a_counter_that_runs_away_from_its_end_keeps_its_check() {
    for (before, is_towards) in [("ugt", true), ("ult", false), ("ine", false)] {
        let lines = counted(
            64,
            "%f",
            -1,
            "ine %next, i64 20",
            "CHECK x %k %len head",
            "joinx",
        );
        let lines = lines.replace(
            "br head\n",
            &format!(
                "%f: i64 = and %m, i64 63
                 %first: bool = cmp.{before} %f, i64 20
                 br_if %first, head, end\n"
            ),
        );
        let after = print(&prepared(&kernel(&lines)));
        assert_eq!(after.contains("assume"), is_towards, "{before}:\n{after}");
    }
}

#[test]
fn one_check_outside_of_loops_stays() {
    let one = "CHECK x %g %len e\nstore %out, %x align 4\nbr end";
    assert!(!print(&prepared(&kernel(one))).contains("assume"));
    let two = "CHECK x %g %len e\nCHECK y %m %len joinx\n%s: i32 = iadd %x, %y\nstore %out, %s align 4\nbr end";
    assert!(print(&prepared(&kernel(two))).contains("assume"));
    // Work-items of a sub-group stay together: what decides is the same for all of the launch.
    let group = format!("%group: i32 = group.reduce.iadd Subgroup %n\n{two}");
    let after = print(&prepared(&kernel(&group)));
    let (condition, _) = after.split_once("br_if").expect("two copies");
    assert!(condition.contains("wi.GlobalSize"), "{after}");
    assert!(!condition.contains("wi.GlobalInvocationId"), "{after}");
    assert!(after.contains("assume"), "{after}");
}

#[test]
fn known_indices_need_no_copy() {
    let both = "%i: i64 = and %g, i64 15\nCHECK x %i i64_16 e\nCHECK y %i i64_20 joinx\n\
                %s: i32 = iadd %x, %y\nstore %out, %s align 4\nbr end";
    let both = kernel(both);
    let after = print(&prepared(&both));
    assert!(
        !after.contains("br_if") && !after.contains("assume"),
        "{after}"
    );
}
