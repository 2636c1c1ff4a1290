//! Implicit barriers before reads of local memory.

use super::whole::prepared;
use kernel_ir::print;

/// A kernel over two local blocks whose item `%l` does what `steps` say.
fn kernel(steps: &str) -> String {
    format!(
        "kernel @k(%a: ptr<local>, %b: ptr<local>, %out: ptr<global>) {{
         e:
           %l: i64 = wi.LocalInvocationId 0
           %mine: ptr<local> = offset %a [%l * 4 + 0]
           %other: ptr<local> = offset %a [4]
           %theirs: ptr<local> = offset %b [%l * 4 + 0]
           {steps}
           ret
         }}"
    )
}

#[test]
fn barriers_are_inserted_between_a_store_and_a_load_of_another_place_in_the_same_variable() {
    for (what, steps, want) in [
        (
            "another item's place",
            "store %mine, i32 1 align 4\n%v: i32 = load %other align 4\nstore %out, %v align 4",
            1,
        ),
        (
            "its own place",
            "store %mine, i32 1 align 4\n%v: i32 = load %mine align 4 volatile\nstore %out, %v align 4",
            0,
        ),
        (
            "another block",
            "store %theirs, i32 1 align 4\n%v: i32 = load %other align 4\nstore %out, %v align 4",
            0,
        ),
        (
            "read before written",
            "%v: i32 = load %other align 4\nstore %mine, %v align 4",
            0,
        ),
        (
            "a barrier between",
            "store %mine, i32 1 align 4\nbarrier Workgroup\n%v: i32 = load %other align 4\nstore %out, %v align 4",
            0,
        ),
        (
            "two reads, one meeting",
            "store %mine, i32 1 align 4\n%v: i32 = load %other align 4 volatile\n%w: i32 = load %other align 4 volatile\n\
             %s: i32 = iadd %v, %w\nstore %out, %s align 4",
            1,
        ),
    ] {
        let text = print(&prepared(&kernel(steps)));
        assert_eq!(
            text.matches("barrier Subgroup").count(),
            want,
            "{what}: {text}"
        );
    }
}

#[test]
fn a_store_in_a_loop_is_seen_by_the_loads_after_it() {
    let module = prepared(
        "kernel @k(%a: ptr<local>, %n: i64, %out: ptr<global>) {
         e:
           %l: i64 = wi.LocalInvocationId 0
           br loop
         loop:
           %i: i64 = phi e: %l, body: %next
           %more: bool = cmp.ult %i, %n
           br_if %more, body, after
         body:
           %p: ptr<local> = offset %a [%i * 8 + 0]
           store %p, %i align 8
           %next: i64 = iadd %i, i64 16
           br loop
         after:
           %first: bool = cmp.ieq %l, i64 0
           br_if %first, sum, out
         sum:
           %k: i64 = phi after: i64 0, sum: %k1
           %s: i64 = phi after: i64 0, sum: %s1
           %q: ptr<local> = offset %a [%k * 8 + 0]
           %v: i64 = load %q align 8
           %s1: i64 = iadd %s, %v
           %k1: i64 = iadd %k, i64 1
           %again: bool = cmp.ult %k1, %n
           br_if %again, sum, write
         write:
           store %out, %s1 align 8
           br out
         out:
           ret
         }",
    );
    let text = print(&module);
    assert_eq!(text.matches("barrier Subgroup").count(), 1, "{text}");
}
