//! Folding, identities, equal values, control flow: before and after.

use super::whole::prepared;
use kernel_ir::print;

/// The body of the only kernel after `prepare`, without its first and last line.
fn body(text: &str) -> String {
    let header = "format \"x\"\nkernel @k(%p: ptr<global>, %n: i32, %f: f32, %c: bool, %v: <4 x i32>, %l: i64) {\n";
    let module = prepared(&format!("{header}{text}\n}}\n"));
    let printed = print(&module);
    let lines: Vec<&str> = printed.lines().skip(2).map(str::trim).collect();
    lines[..lines.len() - 1].join("\n")
}

/// Checks that the value computed by `code` as `%r` is stored as `expected`.
fn stored(code: &str, expected: &str) {
    let text = format!("e:\n {code}\n store %p, %r align 1\n ret");
    let body = body(&text);
    let wanted = format!("b0:\nstore %0, {expected} align 1\nret");
    assert_eq!(body, wanted, "{code}");
}

#[test]
fn constants_fold() {
    for (code, expected) in [
        ("%r: i32 = iadd i32 2, i32 3", "i32 5"),
        (
            "%r: <2 x i8> = imul <2 x i8> [200, 3], <2 x i8> [2, 3]",
            "<2 x i8> [144, 9]",
        ),
        (
            "%r: <2 x i8> = isub <2 x i8> [1, 3], <2 x i8> [1, 3]",
            "<2 x i8> null",
        ),
        ("%r: f32 = fmul f32 1.5, f32 2.0", "f32 3.0"),
        ("%r: bool = cmp.slt i32 -1, i32 0", "bool true"),
        ("%r: i16 = to.trunc i32 65537", "i16 1"),
        ("%r: <2 x i16> = to.bitcast i32 65537", "<2 x i16> [1, 1]"),
        ("%r: f32 = to.bitcast i32 1065353216", "f32 1.0"),
        (
            "%r: i32 = extract {i32, [2 x i32]} [7, [8, 9]] [1, 1]",
            "i32 9",
        ),
        ("%r: i32 = extract [4000000000 x i32] null [5]", "i32 0"),
        (
            "%r: [2 x i32] = insert [2 x i32] [1, 2], i32 5 [0]",
            "[2 x i32] [5, 2]",
        ),
        (
            "%r: <2 x i32> = shuffle <2 x i32> [1, 2], <2 x i32> [3, 4] [3, 0]",
            "<2 x i32> [4, 1]",
        ),
        (
            "%r: <4 x i32> = construct <2 x i32> [1, 2], i32 3, i32 4",
            "<4 x i32> [1, 2, 3, 4]",
        ),
        ("%r: i32 = extract_at <2 x i32> [1, 2], i64 1", "i32 2"),
        ("%r: bool = alllanes <2 x bool> [true, false]", "bool false"),
        ("%r: i32 = select bool false, %n, i32 4", "i32 4"),
    ] {
        stored(code, expected);
    }
}

#[test]
fn identities_hold() {
    for (code, expected) in [
        ("%r: i32 = iadd i32 0, %n", "%1"),
        ("%r: i32 = imul %n, i32 0", "i32 0"),
        ("%r: i32 = and %n, i32 -1", "%1"),
        ("%r: i32 = xor %n, %n", "i32 0"),
        ("%r: <4 x i32> = or %v, <4 x i32> null", "%4"),
        ("%a: i32 = not %n\n %r: i32 = not %a", "%1"),
        ("%a: i64 = to.sext %n\n %r: i32 = to.trunc %a", "%1"),
        ("%r: bool = cmp.ule %n, %n", "bool true"),
        (
            "%a: i8 = select %c, i8 1, i8 0\n %r: bool = cmp.ine %a, i8 0",
            "%3",
        ),
        ("%a: i32 = to.bitcast %f\n %r: f32 = to.bitcast %a", "%2"),
        (
            "%a: <4 x i32> = insert %v, %n [2]\n %r: i32 = extract %a [2]",
            "%1",
        ),
        (
            "%a: i32 = extract %v [0]\n %b: i32 = extract %v [1]\n %d: i32 = extract %v [2]\n \
             %g: i32 = extract %v [3]\n %r: <4 x i32> = construct %a, %b, %d, %g",
            "%4",
        ),
        (
            "%a: i64 = to.ptrtoint %p\n %r: ptr<global> = to.inttoptr %a",
            "%0",
        ),
        ("%r: ptr<global> = offset %p [i64 0 * 4 + 0]", "%0"),
        (
            "%a: ptr<generic> = to.addressspace %p\n %r: bool = is_space %a local",
            "bool false",
        ),
        (
            "%a: ptr<generic> = to.addressspace %p\n %r: ptr<local> = to_space %a local",
            "ptr<local> null",
        ),
        (
            "%a: ptr<generic> = to.addressspace %p\n %r: ptr<global> = to_space %a global",
            "%0",
        ),
    ] {
        stored(code, expected);
    }
}

#[test]
fn unspecified_values_and_floats_stay_as_they_are() {
    for code in [
        "%r: i32 = udiv %n, i32 0",
        "%r: f32 = fadd %f, f32 0.0",
        "%r: f32 = fmul %f, f32 1.0",
        "%r: bool = cmp.fordeq %f, %f",
        "%r: i32 = copy i32 1",
    ] {
        let text = format!("e:\n {code}\n store %p, %r align 1\n ret");
        let body = body(&text);
        let op = code.split_whitespace().nth(3).unwrap();
        assert!(body.contains(op), "{code}: {body}");
    }
}

#[test]
fn constant_offsets_of_addresses_are_combined() {
    let after = body(
        "e:
           %a: i64 = iadd %l, i64 3
           %b: ptr<global> = offset %p [%a * 8 + 4]
           %d: ptr<global> = offset %b [16]
           %g: ptr<global> = offset %d [i64 2 * 4 + 0]
           store %g, %n align 4
           ret",
    );
    assert_eq!(
        after,
        "b0:\n%6: ptr<global> = offset %0 [%5 * 8 + 52]\nstore %6, %1 align 4\nret"
    );
}

#[test]
fn equal_values_are_computed_once_where_one_dominates_the_other() {
    let after = body(
        "e:
           %a: i32 = imul %n, %n
           br_if %c, x, y
         x:
           %b: i32 = imul %n, %n
           %g: i32 = iadd %a, %b
           store %p, %g align 4
           %q: f32 = math.sin %f
           store %p, %q align 4
           br z
         y:
           %s: f32 = math.sin %f
           store %p, %s align 4
           br z
         z:
           %t: i32 = imul %n, %n
           store %p, %t align 4
           ret",
    );
    assert_eq!(after.matches("imul").count(), 1, "{after}");
    assert_eq!(after.matches("math.sin").count(), 2, "{after}");
}

#[test]
fn known_branches_and_empty_blocks_are_removed() {
    let after = body(
        "e:
           br_if %c, x, y
         x:
           br z
         y:
           br z
         z:
           %a: i32 = phi x: i32 1, y: %n
           switch i32 3, q [3: r, 4: q]
         q:
           store %p, i32 9 align 4
           br r
         r:
           %b: i32 = phi z: %a, q: i32 7
           %d: bool = cmp.ugt i32 0, i32 1
           br_if %d, q, s
         s:
           store %p, %b align 4
           ret",
    );
    // One arm must stay: it tells the phi's inputs apart.
    assert_eq!(
        after,
        "b0:\nbr_if %3, b1, b2\nb1:\nbr b2\nb2:\n%6: i32 = phi b0: %1, b1: i32 1\n\
         store %0, %6 align 4\nret"
    );
}

#[test]
fn loops_stay_and_dead_cycles_are_removed() {
    let after = body(
        "e:
           br h
         h:
           %i: i32 = phi e: i32 0, h: %j
           %dead: i32 = phi e: i32 0, h: %dead2
           %same: i32 = phi e: %n, h: %same
           %dead2: i32 = iadd %dead, %n
           %j: i32 = iadd %i, %same
           %again: bool = cmp.ult %j, i32 100
           br_if %again, h, x
         x:
           br y
         y:
           ret",
    );
    assert_eq!(
        after,
        "b0:\nbr b1\nb1:\n%6: i32 = phi b0: i32 0, b1: %7\n%7: i32 = iadd %6, %1\n\
         %8: bool = cmp.ult %7, i32 100\nbr_if %8, b1, b2\nb2:\nret"
    );
}

#[test]
fn endless_and_irreducible_graphs_pass() {
    body(
        "e:
           br_if %c, a, b
         a:
           %x: i32 = phi e: i32 0, b: %y
           br_if %c, b, q
         b:
           %y: i32 = phi e: i32 1, a: %x
           br a
         q:
           br q2
         q2:
           br q",
    );
}
