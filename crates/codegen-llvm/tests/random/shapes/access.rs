//! Shapes of accesses: where lanes' elements lie.

use super::text::{INTEGERS, Text};
use super::{Case, Shape};
use crate::random::ingredients::Random;

pub(super) const SHAPES: &[(&str, Shape)] = &[
    ("structures", structures),
    ("parts of structures", parts_of_structures),
    ("strided loads", strided_loads),
    ("reversed", reversed),
    ("guards", guards),
    ("clamped", clamped),
    ("masked by low bits", low_bits),
    ("permuted", permuted),
    ("narrow ids", narrow_ids),
    ("indices from memory", loaded_offsets),
    ("small vectors", small_vectors),
    ("permuted vectors", permuted_vectors),
    ("uniform", uniform),
    ("private arrays", private_arrays),
    ("short private loops", private_loops),
    ("generic pointers", generic_pointers),
    ("histograms", histograms),
    ("null input", null_input),
];

/// The numbers below `count` in a random order.
fn shuffled(random: &mut Random, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

/// Reads and writes members of structures of `apart` elements, whole ones or a part of each.
fn members(random: &mut Random, apart: usize, whole: bool, (ty, bytes): (&str, usize)) -> Case {
    let mut t = Text::new();
    let index = match random.below(2) {
        0 => "%g".to_owned(),
        _ => t.wide("sext", "%g32"),
    };
    let mut all = shuffled(random, apart);
    if !whole {
        all.truncate(1 + random.below(apart));
    }
    let scale = apart * bytes;
    let base = t.at("global", "%in", &index, scale, 0);
    let mut values = Vec::new();
    for &member in &all {
        let at = t.value(
            "ptr<global>",
            &format!("offset {base} [{}]", member * bytes),
        );
        values.push(t.value(ty, &format!("load {at} align {bytes}")));
    }
    let base = t.at("global", "%out", &index, scale, 0);
    let mut made = Vec::new();
    for (i, v) in values.iter().enumerate() {
        let v = t.value(ty, &format!("iadd {v}, {ty} {}", 3 * i + 1));
        made.push(t.value(ty, &format!("xor {v}, {}", values[0])));
    }
    for i in shuffled(random, all.len()) {
        let at = t.value(
            "ptr<global>",
            &format!("offset {base} [{}]", all[i] * bytes),
        );
        t.line(&format!("store {at}, {} align {bytes}", made[i]));
    }
    let size = random.pick(&[20, 32, 64, 33]);
    Case::new(t.done(), size, random)
}

fn structures(random: &mut Random) -> Case {
    let apart = 2 + random.below(7);
    let element = random.pick(&INTEGERS);
    members(random, apart, true, element)
}

fn parts_of_structures(random: &mut Random) -> Case {
    let apart = 2 + random.below(7);
    let element = random.pick(&INTEGERS);
    members(random, apart, false, element)
}

/// One member of each structure, now and then two.
fn strided_loads(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let apart = random.pick(&[-1i64, 2, 2, 3, 4, 5, 7, 8]);
    let first = random.below(4) * bytes;
    let mut t = Text::new();
    let scaled = t.value("i64", &format!("imul %g, i64 {apart}"));
    // Below zero for some: the last element of all is 200 on.
    let index = t.value("i64", &format!("iadd {scaled}, i64 200"));
    let at = t.at("global", "%in", &index, bytes, first as i64);
    let mut v = t.value(ty, &format!("load {at} align {bytes}"));
    if random.below(2) == 0 {
        let at = t.at("global", "%in", &index, bytes, (first + bytes) as i64);
        let w = t.value(ty, &format!("load {at} align {bytes}"));
        v = t.value(ty, &format!("isub {v}, {w}"));
    }
    t.store(&v, "%g", bytes);
    let size = random.pick(&[16, 32, 64, 21]);
    Case::new(t.done(), size, random)
}

fn reversed(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    let index = match random.below(2) {
        0 => t.value("i64", "isub i64 300, %g"),
        _ => {
            let index = t.value("i32", "isub i32 300, %g32");
            t.wide("sext", &index)
        }
    };
    let v = t.load(ty, &index, bytes);
    let w = t.load(ty, "%g", bytes);
    let v = t.value(ty, &format!("isub {v}, {w}"));
    t.store(&v, &index, bytes);
    let size = random.pick(&[16, 32, 64, 45]);
    Case::new(t.done(), size, random)
}

/// Accesses under a condition: on an id, or on what was read.
fn guards(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    let w = t.load("i32", "%g", 4);
    let odd = t.value("i32", &format!("and {w}, i32 1"));
    let cond = match random.below(6) {
        0 => t.value("bool", "cmp.ult %g32, i32 70"),
        1 => {
            let most = t.value("i32", "imul %n, i32 7");
            t.value("bool", &format!("cmp.slt %g32, {most}"))
        }
        2 => t.value("bool", "cmp.sge %l32, %n"),
        3 => t.value("bool", "cmp.ieq %l32, %n"),
        _ => t.value("bool", &format!("cmp.ine {odd}, i32 0")),
    };
    let inner = random.below(3);
    let place = random.below(4);
    let divides = random.below(2) == 0;
    t.guarded(&cond, |t| {
        let index = match place {
            0 => {
                let far = t.value("i32", &format!("and {w}, i32 1023"));
                t.wide("zext", &far)
            }
            1 => t.value("i64", "shl %g, i64 1"),
            _ => t.value("i64", "iadd %g, i64 5"),
        };
        let v = t.load(ty, &index, bytes);
        let own = t.load(ty, "%g", bytes);
        let mut v = t.value(ty, &format!("imul {v}, {own}"));
        if divides {
            v = t.value(ty, &format!("udiv {v}, {ty} 5"));
        }
        match inner {
            0 => t.store(&v, "%g", bytes),
            1 => {
                let most = t.value("i32", &format!("and {odd}, i32 3"));
                let most = t.value("i32", &format!("iadd {most}, i32 2"));
                let start = [(ty, v)];
                let sum = t.repeat(&most, &start, |t, _, sum| {
                    vec![t.value(ty, &format!("iadd {}, {own}", sum[0]))]
                });
                t.store(&sum[0], "%g", bytes);
            }
            _ => {
                let most = t.value("bool", "cmp.ugt %l32, i32 3");
                t.guarded(&most, |t| t.store(&v, "%g", bytes));
            }
        }
    });
    let size = random.pick(&[20, 32, 64, 33]);
    Case::new(t.done(), size, random)
}

/// Neighbours within the ends of a row.
fn clamped(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    let far = 1 + random.below(5);
    let signed = random.below(2) == 0;
    let index = if signed {
        let before = t.value("i32", &format!("isub %g32, i32 {far}"));
        let low = t.value("i32", &format!("smax {before}, i32 0"));
        let most = t.value("i32", "imul %n, i32 9");
        let index = t.value("i32", &format!("smin {low}, {most}"));
        t.wide("sext", &index)
    } else {
        let after = t.value("i64", &format!("iadd %g, i64 {far}"));
        t.value("i64", &format!("umin {after}, i64 77"))
    };
    let v = t.load(ty, &index, bytes);
    let w = t.load(ty, "%g", bytes);
    let v = t.value(ty, &format!("isub {v}, {w}"));
    t.store(&v, "%g", bytes);
    let size = random.pick(&[16, 32, 64, 37]);
    Case::new(t.done(), size, random)
}

fn low_bits(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    let bits = random.pick(&[31, 63, 127]);
    let far = random.below(20);
    let from = t.value("i64", &format!("iadd %g, i64 {far}"));
    let from = t.value("i64", &format!("and {from}, i64 {bits}"));
    let v = t.load(ty, &from, bytes);
    // All work-items are fewer.
    let to = t.value("i64", &format!("iadd %g, i64 {}", far + 3));
    let to = t.value("i64", &format!("and {to}, i64 255"));
    t.store(&v, &to, bytes);
    let size = random.pick(&[16, 32, 64, 25]);
    Case::new(t.done(), size, random)
}

/// A place for each of up to 1024 work-items, no two of which have the same.
fn permutation(t: &mut Text, random: &mut Random) -> String {
    let by = 2 * random.below(400) + 35;
    let far = t.value("i32", &format!("imul %g32, i32 {by}"));
    let own = t.value("i32", &format!("and {far}, i32 1023"));
    t.wide("zext", &own)
}

fn permuted(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    let own = permutation(&mut t, random);
    let at = t.load("i32", &own, 4);
    let at = t.value("i32", &format!("and {at}, i32 2047"));
    let at = t.wide(random.pick(&["zext", "sext"]), &at);
    let v = t.load(ty, &at, bytes);
    let mut v = t.value(ty, &format!("iadd {v}, {ty} 3"));
    // Enough work to be worth it.
    for i in 0..6 {
        let w = t.value(ty, &format!("imul {v}, {v}"));
        v = t.value(ty, &format!("xor {w}, {ty} {i}"));
    }
    t.store(&v, &own, bytes);
    let size = random.pick(&[16, 32, 64, 41]);
    Case::new(t.done(), size, random)
}

/// Ids in fewer bits, which wrap around in some chunks and are extended.
fn narrow_ids(random: &mut Random) -> Case {
    let mut t = Text::new();
    let ty = random.pick(&["i8", "i16"]);
    let how = random.pick(&["zext", "zext", "sext"]);
    let narrow = t.value(ty, "to.trunc %g");
    let more = t.value(ty, &format!("iadd {narrow}, {ty} {}", random.below(90)));
    let index = t.wide(how, &more);
    let index = t.value("i64", &format!("iadd {index}, i64 200"));
    let v = t.load("i32", &index, 4);
    t.store(&v, "%g", 4);
    let size = random.pick(&[32, 64, 50]);
    Case::new(t.done(), size, random)
}

/// 32-bit indices that count from a number in memory.
fn loaded_offsets(random: &mut Random) -> Case {
    let mut t = Text::new();
    let n = t.wide("zext", "%n");
    let base = t.load("i32", &n, 4);
    let base = t.value("i32", &format!("and {base}, i32 1023"));
    let index = t.value("i32", &format!("iadd {base}, %g32"));
    let index = t.wide(random.pick(&["zext", "sext"]), &index);
    let v = t.load("i32", &index, 4);
    let to = t.value("i32", &format!("iadd {base}, %g32"));
    let to = t.wide("zext", &to);
    t.store(&v, &to, 4);
    let size = random.pick(&[16, 32, 64, 27]);
    Case::new(t.done(), size, random)
}

/// Small vectors of each work-item, and the same bits as other components.
fn small_vectors(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (from, to, bytes) = random.pick(&[
        ("<4 x i8>", "i32", 4),
        ("<4 x i8>", "<2 x i16>", 4),
        ("<2 x i32>", "i64", 8),
        ("<2 x i16>", "<4 x i8>", 4),
        ("<4 x i16>", "<2 x i32>", 8),
        ("<2 x i64>", "<4 x i32>", 16),
        ("<4 x i32>", "<2 x i64>", 16),
    ]);
    let v = t.load(from, "%g", bytes);
    let next = t.value("i64", "iadd %g, i64 9");
    let w = t.load(from, &next, bytes);
    let v = t.value(from, &format!("iadd {v}, {w}"));
    let other = t.value(to, &format!("to.bitcast {v}"));
    let other = t.value(to, &format!("xor {other}, {other}"));
    let again = t.value(to, &format!("to.bitcast {v}"));
    let other = t.value(to, &format!("isub {again}, {other}"));
    let doubled = t.value(to, &format!("iadd {other}, {again}"));
    t.store(&doubled, "%g", bytes);
    let size = random.pick(&[16, 32, 64, 19]);
    Case::new(t.done(), size, random)
}

fn permuted_vectors(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (ty, bytes) = random.pick(&[
        ("<2 x i16>", 4),
        ("<4 x i8>", 4),
        ("<2 x i32>", 8),
        ("<4 x i32>", 16),
        ("<2 x i64>", 16),
        ("<4 x i32>", 16),
    ]);
    let own = permutation(&mut t, random);
    let at = t.load("i32", &own, 4);
    let at = t.value("i32", &format!("and {at}, i32 2047"));
    let at = t.wide("zext", &at);
    let v = t.load(ty, &at, bytes);
    let mut v = t.value(ty, &format!("iadd {v}, {v}"));
    for _ in 0..6 {
        let w = t.value(ty, &format!("imul {v}, {v}"));
        v = t.value(ty, &format!("isub {w}, {v}"));
    }
    t.store(&v, &own, bytes);
    let size = random.pick(&[16, 32, 64]);
    Case::new(t.done(), size, random)
}

/// One place for all.
fn uniform(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    let n = t.wide("zext", "%n");
    let v = t.load(ty, &n, bytes);
    t.store(&v, "i64 1000", bytes);
    let w = t.load(ty, "%g", bytes);
    let w = t.value(ty, &format!("imul {v}, {w}"));
    t.store(&w, "%g", bytes);
    let size = random.pick(&[16, 32, 64, 23]);
    Case::new(t.done(), size, random)
}

/// Arrays whose elements all lanes index alike, in loops whose length is not known.
fn private_arrays(random: &mut Random) -> Case {
    let (ty, bytes) = random.pick(&INTEGERS);
    let mut t = Text::new();
    t.line(&format!(
        "%array: ptr<private> = alloca {} align {bytes}",
        16 * bytes
    ));
    let waits = random.below(2) == 0;
    let sixteen = "i32 16";
    let none: [(&str, String); 0] = [];
    let by = 2 * random.below(4) + 1;
    let place = |t: &mut Text, i: &str| {
        let i = t.value("i32", &format!("imul {i}, i32 {by}"));
        let i = t.value("i32", &format!("and {i}, i32 15"));
        let i = t.wide("zext", &i);
        t.at("private", "%array", &i, bytes, 0)
    };
    // Sixteen, but nobody sees it.
    let trips = t.value("i32", "lshr %n, i32 8");
    let trips = t.value("i32", &format!("iadd {trips}, {sixteen}"));
    t.repeat(&trips, &none, |t, i, _| {
        let wide = t.wide("zext", i);
        let from = t.value("i64", &format!("iadd {wide}, %g"));
        let v = t.load(ty, &from, bytes);
        let at = place(t, i);
        t.line(&format!("store {at}, {v} align {bytes}"));
        Vec::new()
    });
    if waits {
        t.line("barrier Workgroup");
    }
    let own = t.load("i32", "%g", 4);
    let zero = [(ty, format!("{ty} 0"))];
    let sum = t.repeat("%n", &zero, |t, i, sum| {
        let at = place(t, i);
        let v = t.value(ty, &format!("load {at} align {bytes}"));
        let other = t.value("i32", &format!("iadd {own}, {i}"));
        let at = place(t, &other);
        let w = t.value(ty, &format!("load {at} align {bytes}"));
        let v = t.value(ty, &format!("imul {v}, {w}"));
        vec![t.value(ty, &format!("iadd {}, {v}", sum[0]))]
    });
    t.store(&sum[0], "%g", bytes);
    let size = random.pick(&[32, 64, 20]);
    let mut case = Case::new(t.done(), size, random);
    case.required |= waits;
    case
}

/// Loops of known length over a private array.
fn private_loops(random: &mut Random) -> Case {
    let mut t = Text::new();
    let count = 2 + random.below(5);
    t.line("%array: ptr<private> = alloca 32 align 4");
    let trips = format!("i32 {count}");
    let none: [(&str, String); 0] = [];
    t.repeat(&trips, &none, |t, i, _| {
        let i = t.wide("zext", i);
        let from = t.value("i64", &format!("iadd {i}, %g"));
        let v = t.load("i32", &from, 4);
        let at = t.at("private", "%array", &i, 4, 0);
        t.line(&format!("store {at}, {v} align 4"));
        Vec::new()
    });
    let zero = [("i32", "i32 0".to_owned())];
    let sum = t.repeat(&trips, &zero, |t, i, sum| {
        let last = t.value("i32", &format!("isub i32 {}, {i}", count - 1));
        let i = t.wide("zext", &last);
        let at = t.at("private", "%array", &i, 4, 0);
        let v = t.value("i32", &format!("load {at} align 4"));
        let scaled = t.value("i32", &format!("imul {}, i32 3", sum[0]));
        vec![t.value("i32", &format!("iadd {scaled}, {v}"))]
    });
    t.store(&sum[0], "%g", 4);
    let size = random.pick(&[32, 20]);
    Case::new(t.done(), size, random)
}

/// Pointers that only a conversion says where they point.
fn generic_pointers(random: &mut Random) -> Case {
    let mut t = Text::new();
    t.global("var @tile: [64 x i32] in local");
    let at = t.at("local", "@tile", "%l", 4, 0);
    let at = t.value("ptr<generic>", &format!("to.addressspace {at}"));
    let from = t.at("global", "%in", "%g", 4, 0);
    let from = t.value("ptr<generic>", &format!("to.addressspace {from}"));
    let from = t.value(
        "ptr<generic>",
        &format!("offset {from} [{}]", 4 * random.below(9)),
    );
    let v = t.value("i32", &format!("load {from} align 4"));
    t.line(&format!("store {at}, {v} align 4"));
    t.line("barrier Workgroup");
    let v = t.value("i32", &format!("load {at} align 4"));
    t.store(&v, "%g", 4);
    let size = random.pick(&[32, 64, 20]);
    Case::new(t.done(), size, random)
}

/// Counters of the whole launch, to which work-items add in any order.
fn histograms(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (ty, bytes) = random.pick(&[("i32", 4), ("i64", 8)]);
    let op = random.pick(&[
        "iadd", "isub", "or", "xor", "umax", "iadd", "umin", "smax", "and",
    ]);
    let bins = random.pick(&[15, 255, 1023]);
    let kind = random.below(5);
    let trips = "i32 12";
    let none: [(&str, String); 0] = [];
    let wide = t.value("i64", "imul %g, i64 12");
    t.repeat(trips, &none, |t, i, _| {
        let i = t.wide("zext", i);
        let from = t.value("i64", &format!("iadd {wide}, {i}"));
        let v = t.load("i32", &from, 4);
        let bin = match kind {
            0 => {
                let bin = t.value("i8", &format!("to.trunc {v}"));
                t.wide("zext", &bin)
            }
            1 => "i64 5".to_owned(),
            _ => {
                let bin = t.value("i32", &format!("and {v}, i32 {bins}"));
                t.wide("zext", &bin)
            }
        };
        let by = match ty {
            "i32" => v,
            _ => t.wide("zext", &v),
        };
        let at = t.at("global", "%out", &bin, bytes, 0);
        t.value(ty, &format!("atomic.{op} Device Relaxed {at}, {by}"));
        Vec::new()
    });
    let size = random.pick(&[32, 64, 20]);
    Case::new(t.done(), size, random)
}

fn null_input(random: &mut Random) -> Case {
    let mut t = Text::new();
    let v = t.load("i32", "%g", 4);
    let v = t.value("i32", &format!("iadd {v}, %g32"));
    t.store(&v, "%g", 4);
    let size = random.pick(&[32, 20]);
    let mut case = Case::new(t.done(), size, random);
    case.null = true;
    case
}
