//! Loops over private arrays: those that are unrolled, with their arrays gone, and those that stay.

use super::whole::prepared;
use kernel_ir::print;

/// The only kernel, prepared. `%a` is an array of 16 bytes; block `end` follows the loops.
fn body(loops: &str, end: &str) -> String {
    print(&prepared(&format!(
        "kernel @k(%p: ptr<global>, %n: i32, %z: i64, %x: i32) {{
         e:
           %a: ptr<private> = alloca 16 align 8
           br h
         {loops}
         end:
           {end}
           ret
         }}"
    )))
}

/// A loop that stores `%v` in every element; `count` iterations.
fn fill(count: &str) -> String {
    format!(
        "h:
           %i: i64 = phi e: i64 0, h: %i1
           %i32: i32 = to.trunc %i
           %v: i32 = iadd %i32, %n
           %to: ptr<private> = offset %a [%i * 4 + 0]
           store %to, %v align 4
           %i1: i64 = iadd %i, i64 1
           %go: bool = cmp.ult %i1, {count}
           br_if %go, h, end"
    )
}

const READ: &str = "%q: ptr<private> = offset %a [4]
           %r: i32 = load %q align 4
           store %p, %r align 4";

#[test]
fn arrays_indexed_by_counted_loops_become_values() {
    let nested = "h:
           %i: i64 = phi e: i64 0, after: %i1
           br inner
         inner:
           %j: i64 = phi h: i64 0, inner: %j1
           %i2: i64 = shl %i, i64 1
           %at: i64 = iadd %i2, %j
           %v: i32 = to.trunc %at
           %w: i32 = iadd %v, %n
           %to: ptr<private> = offset %a [%at * 4 + 0]
           store %to, %w align 4
           %j1: i64 = iadd %j, i64 1
           %go: bool = cmp.ult %j1, i64 2
           br_if %go, inner, after
         after:
           %i1: i64 = iadd %i, i64 1
           %more: bool = cmp.ult %i1, i64 2
           br_if %more, h, end";
    for loops in [fill("i64 4"), nested.to_owned()] {
        let after = body(&loops, READ);
        assert!(!after.contains("alloca"), "{loops}: {after}");
        assert!(!after.contains("phi"), "{loops}: {after}");
        // The second element.
        assert!(after.contains("iadd %1, i32 1"), "{loops}: {after}");
    }
}

#[test]
fn many_loops_over_one_array_stay() {
    // Each is short enough; more than are unrolled in one function.
    let loops: String = (0..80)
        .map(|k| {
            let (this, next) = match k {
                0 => ("h".to_owned(), "h1".to_owned()),
                79 => ("h79".to_owned(), "end".to_owned()),
                k => (format!("h{k}"), format!("h{}", k + 1)),
            };
            let before = match k {
                0 => "e".to_owned(),
                1 => "h".to_owned(),
                k => format!("h{}", k - 1),
            };
            format!(
                "{this}:
           %i{k}: i64 = phi {before}: i64 0, {this}: %n{k}
           %to{k}: ptr<private> = offset %a [%i{k} * 4 + 0]
           store %to{k}, %n align 4
           %n{k}: i64 = iadd %i{k}, i64 1
           %go{k}: bool = cmp.ult %n{k}, i64 2
           br_if %go{k}, {this}, {next}\n"
            )
        })
        .collect();
    let after = body(&loops, READ);
    assert_eq!(after.matches("phi").count(), 80, "{after}");
}

#[test]
fn loops_stay_if_the_array_would_stay_in_memory() {
    let picked = "%q: ptr<private> = offset %a [%z * 4 + 0]
           %r: i32 = load %q align 4
           store %p, %r align 4";
    let escapes = "store %p, %a align 8";
    let barrier = fill("i64 4").replace("store %to", "barrier Workgroup\n store %to");
    let cases = [
        // The number of iterations is not known, or too high.
        (fill("%z"), READ),
        (fill("i64 17"), READ),
        // Another index decides at run time.
        (fill("i64 4"), picked),
        // The address is needed.
        (fill("i64 4"), escapes),
        // Copies would have barriers.
        (barrier, READ),
    ];
    for (loops, end) in cases {
        let after = body(&loops, end);
        assert!(after.contains("alloca 16"), "{loops} {end}: {after}");
        assert!(after.contains("phi"), "{loops} {end}: {after}");
    }
}
