//! Stores of members of structures: each kernel leaves the same bytes with lanes side by side, at several widths and
//! shapes of groups, as interpreted.

use std::fmt::Write;

use super::memory::{SHAPES, same};

/// A kernel whose work-items each write to a structure of `elements` of type `ty` in `%out` what `stores` say; `%v0` to
/// `%v7` are values of each work-item's own, `%w` the same for all, `%s` the address of its structure.
fn kernel(ty: &str, elements: u32, stores: &[Step]) -> String {
    let bytes = elements * bytes(ty);
    let mut text = format!(
        "kernel @k(%in: ptr<global>, %out: ptr<global>, %n: i32) {{
b0:
  %g: i64 = wi.GlobalInvocationId 0
  %y: i64 = wi.LocalInvocationId 1
  %z: i64 = wi.LocalInvocationId 2
  %sx: i64 = wi.GlobalSize 0
  %sy: i64 = wi.GlobalSize 1
  %plane: i64 = imul %z, %sy
  %row: i64 = iadd %plane, %y
  %start: i64 = imul %row, %sx
  %id: i64 = iadd %start, %g
  %s: ptr<global> = offset %out [%id * {bytes} + 64]
  %w: {ty} = {from} %n
",
        from = match ty {
            "i32" => "copy",
            "f32" => "to.bitcast",
            "i64" => "to.zext",
            _ => "to.trunc",
        }
    );
    for i in 0..8 {
        let loaded = if ty == "f32" { "i32" } else { ty };
        let _ = writeln!(
            text,
            "  %p{i}: ptr<global> = offset %in [%id * 8 + {}]\n  %l{i}: {loaded} = load %p{i} align {}",
            i * 8,
            self::bytes(ty)
        );
        let value = match ty {
            "f32" => format!("to.bitcast %l{i}"),
            _ => format!("xor %l{i}, %w"),
        };
        let _ = writeln!(text, "  %v{i}: {ty} = {value}");
    }
    for (i, step) in stores.iter().enumerate() {
        let size = self::bytes(ty);
        let _ = match *step {
            Step::Store(at, value) => writeln!(
                text,
                "  %a{i}: ptr<global> = offset %s [{}]\n  store %a{i}, {value} align {size}",
                at * size
            ),
            Step::Whole(at, value) => writeln!(
                text,
                "  %a{i}: ptr<global> = offset %out [%id * {bytes} + {}]\n  store %a{i}, {value} align {size}",
                64 + at * size
            ),
            Step::Load(at) => writeln!(
                text,
                "  %a{i}: ptr<global> = offset %s [{}]\n  %r: {ty} = load %a{i} align {size}",
                at * size
            ),
            Step::When => writeln!(
                text,
                "  %odd: i64 = and %id, i64 5\n  %on: bool = cmp.ine %odd, i64 0\n  br_if %on, yes, no\nyes:"
            ),
            Step::End => writeln!(text, "  br no\nno:"),
        };
    }
    text.push_str("  ret\n}");
    text
}

fn bytes(ty: &str) -> u32 {
    match ty {
        "i8" => 1,
        "i16" => 2,
        "i64" => 8,
        _ => 4,
    }
}

#[derive(Clone, Copy)]
enum Step {
    /// A value to an element, by the structure's address.
    Store(u32, &'static str),
    /// The same by an address of its own.
    Whole(u32, &'static str),
    /// `%r` from an element.
    Load(u32),
    /// What follows is done by some work-items only, until the end.
    When,
    End,
}
use Step::{End, Load, Store, When, Whole};

const VALUES: [&str; 8] = ["%v0", "%v1", "%v2", "%v3", "%v4", "%v5", "%v6", "%v7"];

#[test]
fn whole_structures_of_every_size() {
    for ty in ["i8", "i16", "i32", "i64", "f32"] {
        for elements in 2..=8 {
            // In an order that is not memory's.
            let order = (0..elements).map(|i| (i * 5 + 1) % elements);
            let order: Vec<u32> = match elements {
                5 => (0..5).rev().collect(),
                _ => order.collect(),
            };
            let stores: Vec<Step> = order
                .into_iter()
                .map(|at| Store(at, VALUES[at as usize]))
                .collect();
            let text = kernel(ty, elements, &stores);
            let name = format!("{elements} members of {ty}");
            for (size, lanes) in [
                ([37, 1, 1], None),
                ([16, 3, 1], Some(16)),
                ([9, 2, 2], Some(4)),
            ] {
                for masks in [false, true] {
                    same(&name, &text, size, lanes, masks, "");
                }
            }
        }
    }
}

#[test]
fn what_is_stored_of_structures_in_every_shape_of_group() {
    let cases: [(&str, &str, u32, &[Step]); 11] = [
        ("one member", "i32", 7, &[Store(3, "%v0")]),
        (
            "the same value for all",
            "i32",
            2,
            &[Store(0, "%w"), Store(1, "%v0")],
        ),
        (
            "some members, by addresses of two kinds",
            "i32",
            7,
            &[Store(1, "%v1"), Whole(6, "%v2"), Store(4, "%v3")],
        ),
        (
            "members of halves of structures",
            "i32",
            4,
            &[Store(2, "%v1"), Store(3, "%v2")],
        ),
        (
            "a member twice: the later value stays",
            "i32",
            3,
            &[
                Store(0, "%v0"),
                Store(1, "%v1"),
                Store(0, "%v2"),
                Store(2, "%v3"),
                Store(1, "%v4"),
            ],
        ),
        (
            "a member read between stores, before and after it is written",
            "i32",
            3,
            &[
                Store(0, "%v0"),
                Store(1, "%v1"),
                Load(1),
                Store(1, "%v3"),
                Store(2, "%r"),
            ],
        ),
        (
            "a member read that is written afterwards, of short words",
            "i16",
            3,
            &[Store(2, "%v0"), Load(0), Store(1, "%r"), Store(0, "%v1")],
        ),
        (
            "a whole structure, and a member of it again by another address",
            "i32",
            2,
            &[
                Store(0, "%v0"),
                Store(1, "%v1"),
                Whole(1, "%v2"),
                Store(0, "%v3"),
            ],
        ),
        (
            "stores of some work-items only",
            "i32",
            3,
            &[
                Store(0, "%v0"),
                When,
                Store(0, "%v1"),
                Store(1, "%v2"),
                Store(2, "%v3"),
                End,
                Store(1, "%v4"),
            ],
        ),
        (
            "behind what some work-items do, from values made before",
            "f32",
            4,
            &[
                When,
                Store(0, "%v1"),
                End,
                Store(3, "%v0"),
                Whole(2, "%v1"),
                Store(1, "%v2"),
                Store(0, "%v3"),
            ],
        ),
        (
            "long words",
            "i64",
            6,
            &[
                Store(5, "%v5"),
                Store(4, "%v4"),
                Store(1, "%v1"),
                Store(0, "%w"),
            ],
        ),
    ];
    for (name, ty, elements, stores) in cases {
        let text = kernel(ty, elements, stores);
        for (size, lanes) in SHAPES {
            for masks in [false, true] {
                same(name, &text, size, lanes, masks, "");
            }
        }
    }
}
