//! Accesses whose indices are compared with lengths, as kernels in Rust have them: outside, a read gives zero and a
//! write is left out. In some chunks all are inside, in some a few, in some none.

use super::text::Text;
use super::{Case, Shape};
use crate::random::ingredients::Random;

pub(super) const SHAPES: &[(&str, Shape)] = &[
    ("checked accesses", accesses),
    ("checked accesses in loops", loops),
    ("checked accesses around barriers", barriers),
    ("strides that a loop computes", strides),
    ("whole private arrays", whole_arrays),
];

/// The bounds of a check, in the type of its index.
fn bound(random: &mut Random, bits: u32) -> String {
    match random.below(6) {
        0 if bits == 32 => "%n".into(),
        // Loads elsewhere in the input would find other numbers than zero.
        1 => format!("i{bits} {}", random.below(30)),
        2 | 3 => format!("i{bits} {}", 40 + random.below(120)),
        _ => format!("i{bits} 16000"),
    }
}

/// The element with this index of `bits` bits, or zero.
fn load(t: &mut Text, random: &mut Random, index: &str, bits: u32) -> String {
    let bound = bound(random, bits);
    let inside = t.value("bool", &format!("cmp.ult {index}, {bound}"));
    let wide = match bits {
        32 => t.wide("zext", index),
        _ => index.to_owned(),
    };
    let (then, join, before) = (t.label(), t.label(), t.block.clone());
    t.line(&format!("br_if {inside}, {then}, {join}"));
    t.start(&then);
    let v = t.load("i32", &wide, 4);
    t.line(&format!("br {join}"));
    t.start(&join);
    t.value("i32", &format!("phi {before}: i32 0, {then}: {v}"))
}

/// An index of 64 or 32 bits: with the id in it as it is, with a factor, less a number, masked, halved, clamped.
fn index(t: &mut Text, random: &mut Random, bits: u32, more: &str) -> String {
    let (g, ty) = match bits {
        32 => ("%g32", "i32"),
        _ => ("%g", "i64"),
    };
    let by = random.below(30);
    let op = random.pick(&[
        "iadd X, Y",
        "iadd X, Y",
        "iadd X, Y",
        "imul X, Y",
        "isub X, Y",
        "and X, Y",
        "lshr X, 2",
        "urem X, Y",
    ]);
    let op = op.replace('X', g).replace('Y', &format!("{ty} {}", by + 1));
    let op = op.replace(", 2", &format!(", {ty} 2"));
    let own = t.value(ty, &op);
    let own = match random.below(5) {
        0 if bits == 32 => {
            let low = t.value(ty, &format!("smax {own}, {ty} 0"));
            t.value(ty, &format!("smin {low}, {ty} {}", random.below(100)))
        }
        _ => own,
    };
    match random.below(3) {
        0 => t.value(ty, &format!("iadd {own}, {more}")),
        1 => {
            let scaled = t.value(ty, &format!("imul {more}, {ty} {}", 1 + random.below(40)));
            t.value(ty, &format!("iadd {scaled}, {own}"))
        }
        _ => {
            let scaled = t.value(ty, &format!("imul {own}, {ty} {}", 1 + random.below(9)));
            t.value(ty, &format!("iadd {more}, {scaled}"))
        }
    }
}

/// Writes where the id is less than a bound.
fn store(t: &mut Text, random: &mut Random, v: &str) {
    let bound = bound(random, 64);
    let inside = t.value("bool", &format!("cmp.ult %g, {bound}"));
    t.guarded(&inside, |t| t.store(v, "%g", 4));
}

fn accesses(random: &mut Random) -> Case {
    let mut t = Text::new();
    t.line("%y: i64 = wi.GlobalInvocationId 1");
    t.line("%y32: i32 = to.trunc %y");
    let guard = random.pick(&["ult", "ule", "ine", "ugt", "slt"]);
    let guard = t.value(
        "bool",
        &format!("cmp.{guard} %g32, i32 {}", random.below(60)),
    );
    let bits = random.pick(&[32, 64]);
    let body = |t: &mut Text, random: &mut Random| {
        let mut sum = "%n".to_owned();
        for _ in 0..1 + random.below(4) {
            let more = if bits == 32 { "%y32" } else { "%y" };
            let at = index(t, random, bits, more);
            let v = load(t, random, &at, bits);
            sum = t.value("i32", &format!("iadd {sum}, {v}"));
        }
        store(t, random, &sum);
    };
    match random.below(2) {
        0 => body(&mut t, random),
        _ => t.guarded(&guard, |t| body(t, random)),
    }
    let size = random.pick(&[[64, 1, 1], [32, 1, 1], [41, 1, 1], [16, 3, 1]]);
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case
}

/// One loop, with a counter of one of many forms.
fn one_loop(t: &mut Text, random: &mut Random, bits: u32) -> String {
    let ty = format!("i{bits}");
    let (head, exit) = (t.label(), t.label());
    let g = if bits == 32 { "%g32" } else { "%g" };
    let few = random.below(5);
    let end = match (random.below(3), bits) {
        (0, 32) => "%n".to_owned(),
        _ => format!("{ty} {}", few + 1 + random.below(9)),
    };
    let (first, step, stay) = random.pick(&[
        ("0", 1, "ult"),
        ("few", 1, "ult"),
        ("g", 1, "ult"),
        ("0", 3, "ult"),
        ("0", 1, "ine"),
        ("0", 1, "slt"),
        ("few", 1, "ule"),
        ("end", -1, "ugt"),
        ("end", -1, "ine"),
        ("end", -1, "sgt"),
    ]);
    let (first, end) = match first {
        "g" => (g.to_owned(), end),
        "few" => (format!("{ty} {few}"), end),
        "end" => (end, format!("{ty} 0")),
        _ => (format!("{ty} 0"), end),
    };
    // A branch before the loop, or a first iteration in any case.
    let entry = match random.below(2) {
        0 => {
            let enters = t.value(
                "bool",
                &format!(
                    "cmp.{} {first}, {end}",
                    if stay == "ine" { "ine" } else { stay }
                ),
            );
            let into = t.label();
            t.line(&format!("br_if {enters}, {into}, {exit}"));
            let from = t.block.clone();
            t.start(&into);
            t.line(&format!("br {head}"));
            (Some(from), into)
        }
        // A counter that meets its end begins before it.
        _ => {
            let from = t.block.clone();
            t.line(&format!("br {head}"));
            (None, from)
        }
    };
    t.start(&head);
    let (counter, next, sum, sum_next) = (t.name(), t.name(), t.name(), t.name());
    let latch = t.label();
    t.line(&format!(
        "{counter}: {ty} = phi {}: {first}, {latch}: {next}",
        entry.1
    ));
    t.line(&format!(
        "{sum}: i32 = phi {}: i32 7, {latch}: {sum_next}",
        entry.1
    ));
    let at = index(t, random, bits, &counter);
    let mut v = load(t, random, &at, bits);
    if random.below(2) == 0 {
        let w = load(t, random, &counter, bits);
        v = t.value("i32", &format!("xor {v}, {w}"));
    }
    let scaled = t.value("i32", &format!("imul {sum}, i32 3"));
    t.line(&format!("br {latch}"));
    t.start(&latch);
    t.line(&format!("{sum_next}: i32 = iadd {scaled}, {v}"));
    let step = if step < 0 {
        u64::MAX >> (64 - bits)
    } else {
        step as u64
    };
    t.line(&format!("{next}: {ty} = iadd {counter}, {ty} {step}"));
    let more = t.value("bool", &format!("cmp.{stay} {next}, {end}"));
    t.line(&format!("br_if {more}, {head}, {exit}"));
    t.start(&exit);
    match entry.0 {
        Some(from) => t.value("i32", &format!("phi {from}: i32 5, {latch}: {sum_next}")),
        None => t.value("i32", &format!("copy {sum_next}")),
    }
}

fn loops(random: &mut Random) -> Case {
    let mut t = Text::new();
    let bits = random.pick(&[32, 64]);
    let sum = one_loop(&mut t, random, bits);
    store(&mut t, random, &sum);
    let size = random.pick(&[16, 32, 64, 41]);
    Case::new(t.done(), size, random)
}

fn barriers(random: &mut Random) -> Case {
    let mut t = Text::new();
    t.global("var @slots: [64 x i32] in local");
    let own = t.at("local", "@slots", "%l", 4, 0);
    let at = index(&mut t, random, 64, "%l");
    let v = load(&mut t, random, &at, 64);
    t.line(&format!("store {own}, {v} align 4"));
    t.line("barrier Workgroup");
    let at = index(&mut t, random, 32, "%l32");
    let v = load(&mut t, random, &at, 32);
    let other = t.value("i64", "xor %l, i64 1");
    let other = t.at("local", "@slots", &other, 4, 0);
    let w = t.value("i32", &format!("load {other} align 4"));
    let v = t.value("i32", &format!("isub {v}, {w}"));
    store(&mut t, random, &v);
    let size = random.pick(&[16, 32, 64, 40]);
    Case::new(t.done(), size, random)
}

/// A loop doubles a number a few times, and the code behind it scales ids by what it has become.
fn strides(random: &mut Random) -> Case {
    let mut t = Text::new();
    let trips = 2 + random.below(4);
    let (head, exit, from) = (t.label(), t.label(), t.block.clone());
    t.line(&format!("br {head}"));
    t.start(&head);
    let (i, next, by, double) = (t.name(), t.name(), t.name(), t.name());
    t.line(&format!("{i}: i32 = phi {from}: i32 0, {head}: {next}"));
    t.line(&format!("{by}: i64 = phi {from}: i64 1, {head}: {double}"));
    let at = t.value("i64", &format!("imul %g, {by}"));
    let v = t.load("i32", &at, 4);
    t.store(&v, "%g", 4);
    t.line(&format!("{double}: i64 = shl {by}, i64 1"));
    t.line(&format!("{next}: i32 = iadd {i}, i32 1"));
    let more = t.value("bool", &format!("cmp.ult {next}, i32 {trips}"));
    t.line(&format!("br_if {more}, {head}, {exit}"));
    t.start(&exit);
    let at = t.value("i64", &format!("imul %g, {double}"));
    let v = t.load("i32", &at, 4);
    let v = t.value("i32", &format!("iadd {v}, {next}"));
    let to = t.value("i64", "iadd %g, i64 1024");
    t.store(&v, &to, 4);
    let size = random.pick(&[16, 32, 64, 25]);
    Case::new(t.done(), size, random)
}

/// An array that begins as zeros and is then indexed by numbers from memory.
fn whole_arrays(random: &mut Random) -> Case {
    let mut t = Text::new();
    t.line("%array: ptr<private> = alloca 32 align 4");
    t.line("store %array, [8 x i32] null align 4");
    for _ in 0..3 {
        let at = t.load("i32", "%g", 4);
        let at = t.value("i32", &format!("lshr {at}, i32 {}", random.below(9)));
        let at = t.value("i32", &format!("and {at}, i32 7"));
        let at = t.wide("zext", &at);
        let place = t.at("private", "%array", &at, 4, 0);
        let v = t.value("i32", &format!("load {place} align 4"));
        let v = t.value("i32", &format!("iadd {v}, %g32"));
        t.line(&format!("store {place}, {v} align 4"));
    }
    let all = t.value("[8 x i32]", "load %array align 4");
    let mut sum = "i32 0".to_owned();
    for i in 0..8 {
        let one = t.value("i32", &format!("extract {all} [{i}]"));
        let scaled = t.value("i32", &format!("imul {sum}, i32 5"));
        sum = t.value("i32", &format!("iadd {scaled}, {one}"));
    }
    t.store(&sum, "%g", 4);
    let size = random.pick(&[16, 32, 64, 25]);
    Case::new(t.done(), size, random)
}
