//! Private memory to values, generic pointers to pointers of one space.

use super::whole::prepared;
use kernel_ir::print;

fn body(text: &str) -> String {
    let header = "kernel @k(%p: ptr<global>, %n: i32, %f: f32, %c: bool, %l: ptr<local>, %g: ptr<generic>, %z: i64) {\n";
    let module = prepared(&format!("{header}{text}\n}}\n"));
    let printed = print(&module);
    let lines: Vec<&str> = printed.lines().skip(1).map(str::trim).collect();
    lines[..lines.len() - 1].join("\n")
}

#[test]
fn scalars_become_values_with_phis_at_joins() {
    let after = body(
        "e:
           %a: ptr<private> = alloca 4 align 4
           %i: ptr<private> = alloca 4 align 4
           store %a, i32 0 align 4
           store %i, i32 0 align 4
           br h
         h:
           %x: i32 = load %i align 4
           %y: i32 = load %a align 4
           %z1: i32 = iadd %y, %x
           store %a, %z1 align 4
           %w: i32 = iadd %x, i32 1
           store %i, %w align 4
           %q: bool = cmp.slt %w, %n
           br_if %q, h, out
         out:
           %r: i32 = load %a align 4
           store %p, %r align 4
           ret",
    );
    assert_eq!(
        after,
        "b0:\nbr b1\nb1:\n%7: i32 = phi b0: i32 0, b1: %9\n%8: i32 = phi b0: i32 0, b1: %10\n\
         %9: i32 = iadd %7, %8\n%10: i32 = iadd %8, i32 1\n%11: bool = cmp.slt %10, %1\n\
         br_if %11, b1, b2\nb2:\nstore %0, %9 align 4\nret"
    );
}

/// `code` stores into memory and reads it back to `%r`, which is stored as `expected`.
fn read_back(code: &str, expected: &str) {
    let after = body(&format!("e:\n{code}\n store %p, %r align 1\n ret"));
    assert_eq!(after, format!("b0:\n{expected}ret"), "{code}");
}

#[test]
fn aggregates_are_split_into_their_fields() {
    for (code, expected) in [
        (
            " %a: ptr<private> = alloca 16 align 8
              %b: ptr<private> = offset %a [8]
              store %a, %n align 4
              store %b, %z align 8
              %r: i64 = load %b align 8",
            "store %0, %6 align 1\n",
        ),
        // A struct stored as a whole, one field read.
        (
            " %a: ptr<private> = alloca 16 align 8
              %s: {i32, i64} = construct %n, %z
              store %a, %s align 8
              %b: ptr<private> = offset %a [8]
              %r: i64 = load %b align 8",
            "store %0, %6 align 1\n",
        ),
        // Fields stored, read as a whole and taken apart.
        (
            " %a: ptr<private> = alloca 12 align 4
              store %a, %n align 4
              %b: ptr<private> = offset %a [4]
              store %b, %f align 4
              %s: {i32, [2 x f32]} = load %a align 4
              %r: f32 = extract %s [1, 0]",
            "store %0, %2 align 1\n",
        ),
        // A copy of a copy.
        (
            " %a: ptr<private> = alloca 16 align 8
              %b: ptr<private> = alloca 16 align 8
              %d: ptr<private> = alloca 16 align 8
              store %a, %n align 4
              %a8: ptr<private> = offset %a [8]
              store %a8, %z align 8
              copy_memory %b, %a, i64 16 align 8
              copy_memory %d, %b, i64 16 align 8
              %d8: ptr<private> = offset %d [8]
              %r: i64 = load %d8 align 8",
            "store %0, %6 align 1\n",
        ),
        // From memory: only the bytes that are wanted.
        (
            " %a: ptr<private> = alloca 64 align 8
              copy_memory %a, %p, i64 64 align 4
              %b: ptr<private> = offset %a [24]
              %r: i64 = load %b align 8",
            "%7: ptr<global> = offset %0 [24]\n%8: i64 = load %7 align 4\nstore %0, %8 align 1\n",
        ),
        // To memory: bytes without a name go along.
        (
            " %a: ptr<private> = alloca 16 align 8
              store %a, %n align 4
              %b: ptr<private> = offset %a [8]
              store %b, %z align 8
              copy_memory %p, %a, i64 16 align 8
              %r: i32 = load %a align 4",
            "store %0, %1 align 8\n%7: ptr<global> = offset %0 [4]\nstore %7, i32 undef align 4\n\
             %8: ptr<global> = offset %0 [8]\nstore %8, %6 align 8\nstore %0, %1 align 1\n",
        ),
        // An element of a vector.
        (
            " %a: ptr<private> = alloca 16 align 16
              store %a, <4 x i32> [1, 2, 3, 4] align 16
              %b: ptr<private> = offset %a [4]
              store %b, %n align 4
              %v: <4 x i32> = load %a align 16
              %r: i32 = extract %v [1]",
            "store %0, %1 align 1\n",
        ),
        // Other types of the same bytes.
        (
            " %a: ptr<private> = alloca 4 align 4
              store %a, %f align 4
              %r: i32 = load %a align 4",
            "%7: i32 = to.bitcast %2\nstore %0, %7 align 1\n",
        ),
        (
            " %a: ptr<private> = alloca 8 align 8
              store %a, i64 4294967298 align 8
              %b: ptr<private> = offset %a [4]
              %r: i32 = load %b align 4",
            "store %0, i32 1 align 1\n",
        ),
        (
            " %a: ptr<private> = alloca 8 align 8
              store %a, %p align 8
              %r: ptr<generic> = load %a align 8",
            "%7: ptr<generic> = to.addressspace %0\nstore %0, %7 align 1\n",
        ),
        (
            " %a: ptr<private> = alloca 1 align 1
              store %a, %c align 1
              %r: i8 = load %a align 1",
            "%7: i8 = select %3, i8 1, i8 0\nstore %0, %7 align 1\n",
        ),
        // Read before it is written.
        (
            " %a: ptr<private> = alloca 4 align 4
              %r: i32 = load %a align 4",
            "store %0, i32 undef align 1\n",
        ),
        // Zeros say nothing about the types of what they cover.
        (
            " %a: ptr<private> = alloca 16 align 8
              %t: ptr<private> = alloca 16 align 8
              store %t, [16 x i8] null align 8
              copy_memory %a, %t, i64 16 align 8
              %b: ptr<private> = offset %a [4]
              %r: f32 = load %b align 4
              copy_memory %p, %t, i64 16 align 8",
            "store %0, i32 0 align 8\n%7: ptr<global> = offset %0 [4]\nstore %7, f32 0.0 align 4\n\
             %8: ptr<global> = offset %0 [8]\nstore %8, i64 0 align 8\nstore %0, f32 0.0 align 1\n",
        ),
        // Nothing else sees private memory.
        (
            " %a: ptr<private> = alloca 4 align 4
              %n1: i32 = iadd %n, %n
              store %a, %n1 align 4 volatile
              %r: i32 = load %a align 4 volatile",
            "%7: i32 = iadd %1, %1\nstore %0, %7 align 1\n",
        ),
        // Through a generic pointer.
        (
            " %a: ptr<private> = alloca 8 align 4
              %b: ptr<generic> = to.addressspace %a
              %d: ptr<generic> = offset %b [4]
              store %d, %n align 4
              %r: i32 = load %d align 4",
            "store %0, %1 align 1\n",
        ),
        // A pointer to private memory in private memory.
        (
            " %a: ptr<private> = alloca 4 align 4
              %b: ptr<private> = alloca 8 align 8
              store %b, %a align 8
              %d: ptr<private> = load %b align 8
              store %d, %n align 4
              %r: i32 = load %a align 4",
            "store %0, %1 align 1\n",
        ),
    ] {
        read_back(code, expected);
    }
}

#[test]
fn memory_whose_address_is_needed_stays() {
    for code in [
        "%b: ptr<private> = offset %a [%z * 4 + 0]\n %r: i32 = load %b align 4",
        "%q: i64 = to.ptrtoint %a\n %s: i64 = iadd %q, i64 1\n %r: i32 = to.trunc %s",
        "%r: i32 = atomic.iadd Device Relaxed %a, %n",
        "%b: ptr<private> = offset %a [%z * 4 + 0]\n %r: i32 = load %b align 4 volatile",
        "store %p, %a align 8\n %r: i32 = load %a align 4",
        "%b: ptr<private> = offset %a [14]\n %r: i32 = load %b align 1",
        "copy_memory %a, %p, %z align 1\n %r: i32 = load %a align 4",
    ] {
        let after = body(&format!(
            "e:\n %a: ptr<private> = alloca 16 align 8\n store %a, %n align 4\n {code}\n \
             store %p, %r align 4\n ret"
        ));
        assert!(after.contains("alloca 16"), "{code}: {after}");
        assert!(after.contains("store %7, %1 align 4"), "{code}: {after}");
    }
}

#[test]
fn one_dynamic_array_does_not_keep_its_neighbours_in_memory() {
    let after = body(
        "e:
           %a: ptr<private> = alloca 16 align 8
           %b: ptr<private> = alloca 4 align 4
           store %b, %n align 4
           %d: ptr<private> = offset %a [%z * 4 + 0]
           store %d, %n align 4
           %x: i32 = load %b align 4
           %y: i32 = load %a align 4
           %r: i32 = iadd %x, %y
           store %p, %r align 4
           ret",
    );
    assert!(
        after.contains("alloca 16") && !after.contains("alloca 4"),
        "{after}"
    );
}

/// clang fills arrays by a copy of zeros. One store of eight bytes would keep a float array from being laid out by lane.
#[test]
fn a_filled_array_is_written_in_its_elements() {
    for (ty, bytes, stores) in [
        ("f32", 4, 8),
        ("i64", 8, 4),
        ("i8", 1, 32),
        ("<4 x f32>", 16, 4),
    ] {
        let after = body(&format!(
            "e:
               %a: ptr<private> = alloca 32 align 16
               %t: ptr<private> = alloca 32 align 16
               store %t, [32 x i8] null align 8
               copy_memory %a, %t, i64 32 align 8
               %d: ptr<private> = offset %a [%z * {bytes} + 0]
               %r: {ty} = load %d align {bytes}
               store %p, %r align {bytes}
               ret"
        ));
        assert_eq!(after.matches(" 0 align").count(), stores, "{ty}: {after}");
        assert!(!after.contains("copy_memory"), "{ty}: {after}");
    }
}

#[test]
fn generic_pointers_take_the_space_they_come_from() {
    let after = body(
        "e:
           %a: ptr<generic> = to.addressspace %l
           br_if %c, x, y
         x:
           %b: ptr<generic> = offset %a [4]
           br y
         y:
           %d: ptr<generic> = phi e: %a, x: %b
           store %d, %n align 4
           %i: bool = is_space %d local
           store %p, %i align 1
           %e2: ptr<local> = to_space %d local
           store %e2, %f align 4
           store %p, %d align 8
           ret",
    );
    assert!(
        !after.contains("is_space") && !after.contains("to_space"),
        "{after}"
    );
    assert!(
        after.contains("%8: ptr<local> = phi b0: %4, b1: %7"),
        "{after}"
    );
    assert_eq!(
        after.matches("ptr<generic> = to.addressspace %8").count(),
        1,
        "{after}"
    );
}

#[test]
fn pointers_of_several_spaces_stay_generic() {
    let after = body(
        "e:
           %a: ptr<generic> = to.addressspace %l
           %b: ptr<generic> = to.addressspace %p
           %s: ptr<generic> = select %c, %a, %b
           %t: ptr<generic> = select %c, %a, ptr<generic> null
           store %s, %n align 4
           store %t, %n align 4
           store %g, %n align 4
           ret",
    );
    assert!(after.contains("ptr<generic> = select"), "{after}");
    assert!(
        after.contains("ptr<local> = select %3, %4, ptr<local> null"),
        "{after}"
    );
}
