//! Shapes of loops, branches and arithmetic.

use super::text::{INTEGERS, Text};
use super::{Case, Shape};
use crate::random::ingredients::Random;

pub(super) const SHAPES: &[(&str, Shape)] = &[
    ("grids", grids),
    ("products of matrices", products),
    ("sums along a row", row_sums),
    ("chains", chains),
    ("strided sums", strided_sums),
    ("binary searches", searches),
    ("divisions", divisions),
    ("switches", switches),
    ("chains of comparisons", comparisons),
    ("traps", traps),
    ("products and sums", products_and_sums),
];

/// Ids of two and three dimensions, with guards.
fn grids(random: &mut Random) -> Case {
    let mut t = Text::new();
    let three = random.below(2) == 0;
    t.line("%y: i64 = wi.GlobalInvocationId 1");
    t.line("%y32: i32 = to.trunc %y");
    t.line(match three {
        true => "%z: i64 = wi.GlobalInvocationId 2",
        false => "%z: i64 = copy i64 0",
    });
    let place = match random.below(2) {
        0 => {
            let at = t.value("i64", "imul %z, i64 8");
            let at = t.value("i64", &format!("iadd {at}, %y"));
            let at = t.value("i64", &format!("imul {at}, i64 192"));
            t.value("i64", &format!("iadd {at}, %g"))
        }
        _ => {
            let z = t.value("i32", "to.trunc %z");
            let at = t.value("i32", &format!("imul {z}, i32 8"));
            let at = t.value("i32", &format!("iadd {at}, %y32"));
            let at = t.value("i32", &format!("imul {at}, i32 192"));
            let at = t.value("i32", &format!("iadd {at}, %g32"));
            t.wide("sext", &at)
        }
    };
    let in_x = match random.below(2) {
        0 => t.value("bool", "cmp.ult %g32, i32 45"),
        _ => t.value("bool", "cmp.slt %g, i64 50"),
    };
    let in_y = t.value("bool", "cmp.ult %y32, i32 3");
    let cond = match random.below(4) {
        0 => in_x,
        1 => in_y,
        2 => t.value("bool", &format!("and {in_x}, {in_y}")),
        _ => t.value("bool", "cmp.ine %n, i32 0"),
    };
    let loops = random.below(2) == 0;
    t.guarded(&cond, |t| {
        let v = t.load("i32", &place, 4);
        let w = t.load("i32", "%y", 4);
        let mut v = t.value("i32", &format!("isub {v}, {w}"));
        if loops {
            let start = [("i32", v)];
            let sum = t.repeat("%n", &start, |t, i, sum| {
                let i = t.wide("zext", i);
                let at = t.value("i64", &format!("iadd {place}, {i}"));
                let w = t.load("i32", &at, 4);
                let scaled = t.value("i32", &format!("imul {}, i32 3", sum[0]));
                vec![t.value("i32", &format!("iadd {scaled}, {w}"))]
            });
            v = sum[0].clone();
        }
        t.store(&v, &place, 4);
    });
    let size = match three {
        true => random.pick(&[[8, 4, 2], [4, 4, 4], [16, 2, 2], [5, 3, 2]]),
        false => random.pick(&[[8, 8, 1], [16, 4, 1], [20, 3, 1], [7, 5, 1]]),
    };
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case
}

/// Each work-item one element of a product; a few rows of work-items share what they read of the second matrix.
fn products(random: &mut Random) -> Case {
    let mut t = Text::new();
    t.line("%y: i64 = wi.GlobalInvocationId 1");
    let floats = random.below(2) == 0;
    let guarded = random.below(3) == 0;
    let (ty, zero) = match floats {
        true => ("f32", "f32 0.0"),
        false => ("i32", "i32 0"),
    };
    let row = t.value("i64", "imul %y, i64 192");
    let place = t.value("i64", &format!("iadd {row}, %g"));
    let number = |t: &mut Text, index: &str| {
        let v = t.load("i32", index, 4);
        match floats {
            // Small enough for sums that are exact.
            true => {
                let v = t.value("i32", &format!("and {v}, i32 31"));
                t.value("f32", &format!("to.stof {v}"))
            }
            false => v,
        }
    };
    let body = |t: &mut Text| {
        let start = [(ty, zero.to_owned())];
        let sum = t.repeat("%n", &start, |t, k, sum| {
            let k = t.wide("zext", k);
            let a = t.value("i64", &format!("iadd {row}, {k}"));
            let a = number(t, &a);
            let b = t.value("i64", &format!("imul {k}, i64 192"));
            let b = t.value("i64", &format!("iadd {b}, %g"));
            let b = number(t, &b);
            let (mul, add) = match floats {
                true => ("fmul", "fadd"),
                false => ("imul", "iadd"),
            };
            let product = t.value(ty, &format!("{mul} {a}, {b}"));
            vec![t.value(ty, &format!("{add} {}, {product}", sum[0]))]
        });
        t.store(&sum[0], &place, 4);
    };
    if guarded {
        let cond = t.value("bool", "cmp.ult %g32, i32 80");
        t.guarded(&cond, body);
    } else {
        body(&mut t);
    }
    let size = random.pick(&[[16, 4, 1], [32, 4, 1], [16, 8, 1], [12, 5, 1]]);
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case.required |= random.below(2) == 0;
    case
}

/// Each work-item a sum of products with numbers that all of them read.
fn row_sums(random: &mut Random) -> Case {
    let mut t = Text::new();
    let zero = [("i32", "i32 0".to_owned()), ("i32", "i32 1".to_owned())];
    let guarded = random.below(2) == 0;
    let body = |t: &mut Text| {
        let own = t.load("i32", "%g", 4);
        let sums = t.repeat("%n", &zero, |t, k, sums| {
            let k = t.wide("zext", k);
            let a = t.load("i32", &k, 4);
            let next = t.value("i64", &format!("iadd %g, {k}"));
            let b = t.load("i32", &next, 4);
            let product = t.value("i32", &format!("imul {a}, {b}"));
            let first = t.value("i32", &format!("iadd {}, {product}", sums[0]));
            let other = t.value("i32", &format!("xor {own}, {a}"));
            vec![first, t.value("i32", &format!("isub {}, {other}", sums[1]))]
        });
        let sum = t.value("i32", &format!("iadd {}, {}", sums[0], sums[1]));
        t.store(&sum, "%g", 4);
    };
    if guarded {
        let cond = t.value("bool", "cmp.ult %g32, i32 150");
        t.guarded(&cond, body);
    } else {
        body(&mut t);
    }
    let size = random.pick(&[64, 128, 100]);
    Case::new(t.done(), size, random)
}

/// Loops in which each instruction waits for the one before.
fn chains(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (ty, bytes) = random.pick(&[("i32", 4), ("i64", 8), ("i32", 4)]);
    let own = t.load(ty, "%g", bytes);
    let start = [(ty, own.clone())];
    let steps = 1 + random.below(6);
    let made = t.repeat("%n", &start, |t, _, v| {
        let mut v = v[0].clone();
        for i in 0..steps {
            v = t.value(ty, &format!("imul {v}, {own}"));
            v = t.value(ty, &format!("xor {v}, {ty} {}", i + 3));
        }
        vec![v]
    });
    t.store(&made[0], "%g", bytes);
    let size = random.pick(&[64, 128, 45]);
    Case::new(t.done(), size, random)
}

/// Sums of every so many elements, up to an end that few work-items of a chunk reach in another iteration.
fn strided_sums(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (ty, bytes) = random.pick(&[("i32", 4), ("i64", 8), ("i8", 1)]);
    let stride = random.pick(&[64, 300, 17]);
    let end = random.pick(&[100, 1000, 1100]);
    let [head, work, exit] = [(); 3].map(|()| t.label());
    let [at, sum, at_next, sum_next] = [(); 4].map(|()| t.name());
    let entry = t.block.clone();
    t.line(&format!("br {head}"));
    t.start(&head);
    t.line(&format!("{at}: i32 = phi {entry}: %g32, {work}: {at_next}"));
    t.line(&format!(
        "{sum}: {ty} = phi {entry}: {ty} 0, {work}: {sum_next}"
    ));
    let more = t.value("bool", &format!("cmp.ult {at}, i32 {end}"));
    t.line(&format!("br_if {more}, {work}, {exit}"));
    t.start(&work);
    let place = t.wide("zext", &at);
    let found = t.load(ty, &place, bytes);
    t.line(&format!("{sum_next}: {ty} = iadd {sum}, {found}"));
    t.line(&format!("{at_next}: i32 = iadd {at}, i32 {stride}"));
    t.line(&format!("br {head}"));
    t.start(&exit);
    let behind = t.value("i64", "iadd %g, i64 2000");
    t.store(&sum, &behind, bytes);
    let size = random.pick(&[64, 128, 70]);
    Case::new(t.done(), size, random)
}

/// Binary searches of a key of each work-item, by choices or by branches.
fn searches(random: &mut Random) -> Case {
    let mut t = Text::new();
    let by_branches = random.below(2) == 0;
    let until_found = random.below(2) == 0;
    let key = t.load("i32", "%g", 4);
    let [head, work, below, above, next, exit] = [(); 6].map(|()| t.label());
    let [low, high, low_next, high_next] = [(); 4].map(|()| t.name());
    let entry = t.block.clone();
    t.line(&format!("br {head}"));
    t.start(&head);
    t.line(&format!(
        "{low}: i32 = phi {entry}: i32 0, {next}: {low_next}"
    ));
    t.line(&format!(
        "{high}: i32 = phi {entry}: i32 1000, {next}: {high_next}"
    ));
    let more = t.value("bool", &format!("cmp.ult {low}, {high}"));
    t.line(&format!("br_if {more}, {work}, {exit}"));
    t.start(&work);
    let sum = t.value("i32", &format!("iadd {low}, {high}"));
    let middle = t.value("i32", &format!("lshr {sum}, i32 1"));
    let at = t.wide("zext", &middle);
    let found = t.load("i32", &at, 4);
    let behind = t.value("i32", &format!("iadd {middle}, i32 1"));
    let is_below = t.value("bool", &format!("cmp.ult {found}, {key}"));
    if until_found {
        let same = t.value("bool", &format!("cmp.ieq {found}, {key}"));
        let on = t.label();
        t.line(&format!("br_if {same}, {exit}, {on}"));
        t.start(&on);
    }
    if by_branches {
        t.line(&format!("br_if {is_below}, {below}, {above}"));
        t.start(&below);
        t.line(&format!("br {next}"));
        t.start(&above);
        t.line(&format!("br {next}"));
        t.start(&next);
        t.line(&format!(
            "{low_next}: i32 = phi {below}: {behind}, {above}: {low}"
        ));
        t.line(&format!(
            "{high_next}: i32 = phi {below}: {high}, {above}: {middle}"
        ));
    } else {
        t.line(&format!("br {next}"));
        t.start(&next);
        t.line(&format!(
            "{low_next}: i32 = select {is_below}, {behind}, {low}"
        ));
        t.line(&format!(
            "{high_next}: i32 = select {is_below}, {high}, {middle}"
        ));
    }
    t.line(&format!("br {head}"));
    t.start(&exit);
    t.store(&low, "%g", 4);
    let size = random.pick(&[64, 128, 70]);
    Case::new(t.done(), size, random)
}

fn divisions(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (ty, bytes) = random.pick(&INTEGERS);
    let a = t.load(ty, "%g", bytes);
    let next = t.value("i64", "iadd %g, i64 500");
    let b = t.load(ty, &next, bytes);
    let small = t.value(ty, &format!("ashr {b}, {ty} {}", bytes * 8 - 5));
    let b = match random.below(3) {
        0 => small,
        1 => b,
        _ => {
            let odd = t.value(ty, &format!("and {a}, {ty} 1"));
            let zero = t.value("bool", &format!("cmp.ieq {odd}, {ty} 0"));
            t.value(ty, &format!("select {zero}, {b}, {small}"))
        }
    };
    // Divisors that lanes have in common, too.
    let b = match (random.below(4), ty) {
        (0, "i32") => "%n".to_owned(),
        _ => b,
    };
    let mut v = a.clone();
    for op in ["udiv", "sdiv", "urem", "srem", "smod"] {
        let one = t.value(ty, &format!("{op} {a}, {b}"));
        let scaled = t.value(ty, &format!("imul {v}, {ty} 3"));
        v = t.value(ty, &format!("iadd {scaled}, {one}"));
    }
    t.store(&v, "%g", bytes);
    let size = random.pick(&[16, 64, 37]);
    Case::new(t.done(), size, random)
}

/// Switches on what all lanes have, and on what differs.
fn switches(random: &mut Random) -> Case {
    let mut t = Text::new();
    let v = t.load("i32", "%g", 4);
    let of = match random.below(2) {
        0 => "%n".to_owned(),
        _ => v.clone(),
    };
    let of = t.value("i32", &format!("and {of}, i32 3"));
    let [a, b, c, end] = [(); 4].map(|()| t.label());
    t.line(&format!("switch {of}, {a} [0: {b}, 2: {c}, 3: {b}]"));
    let mut ways = Vec::new();
    for (i, label) in [a, b, c].into_iter().enumerate() {
        t.start(&label);
        let start = [("i32", v.clone())];
        let made = t.repeat("%n", &start, |t, k, v| {
            let w = t.value("i32", &format!("imul {}, {k}", v[0]));
            vec![t.value("i32", &format!("iadd {w}, i32 {}", i + 5))]
        });
        t.line(&format!("br {end}"));
        ways.push(format!("{}: {}", t.block, made[0]));
    }
    t.start(&end);
    let v = t.value("i32", &format!("phi {}", ways.join(", ")));
    t.store(&v, "%g", 4);
    let size = random.pick(&[32, 64, 21]);
    Case::new(t.done(), size, random)
}

/// One number compared with several, one after another; cases change one of two values.
fn comparisons(random: &mut Random) -> Case {
    let mut t = Text::new();
    let v = t.load("i32", "%g", 4);
    let of = match random.below(3) {
        0 => "%n".to_owned(),
        _ => t.value("i32", &format!("and {v}, i32 7")),
    };
    let end = t.label();
    let mut ways = Vec::new();
    for k in 0..3 + random.below(4) {
        let is = match random.below(3) {
            0 => format!("cmp.ieq i32 {k}, {of}"),
            _ => format!("cmp.ieq {of}, i32 {k}"),
        };
        let is = t.value("bool", &is);
        let (hit, next) = (t.label(), t.label());
        t.line(&format!("br_if {is}, {hit}, {next}"));
        t.start(&hit);
        let made = match random.below(3) {
            0 => t.value("i32", &format!("imul {v}, i32 {}", k + 3)),
            1 => {
                let at = t.value("i32", &format!("and {v}, i32 255"));
                let at = t.wide("zext", &at);
                t.load("i32", &at, 4)
            }
            _ => v.clone(),
        };
        t.line(&format!("br {end}"));
        ways.push(format!("{hit}: {made}"));
        t.start(&next);
    }
    ways.push(format!("{}: i32 9", t.block));
    t.line(&format!("br {end}"));
    t.start(&end);
    let v = t.value("i32", &format!("phi {}", ways.join(", ")));
    t.store(&v, "%g", 4);
    let size = random.pick(&[32, 64, 21]);
    Case::new(t.done(), size, random)
}

/// Checks that always hold.
fn traps(random: &mut Random) -> Case {
    let mut t = Text::new();
    let v = t.load("i32", "%g", 4);
    let bad = match random.below(2) {
        0 => t.value("bool", "cmp.ugt %n, i32 1000"),
        _ => t.value("bool", "cmp.ugt %g32, i32 1000"),
    };
    let (trap, on) = (t.label(), t.label());
    t.line(&format!("br_if {bad}, {trap}, {on}"));
    t.start(&trap);
    t.line("trap(%g, %l, %l)");
    t.line("unreachable");
    t.start(&on);
    t.store(&v, "%g", 4);
    let size = random.pick(&[32, 64, 21]);
    Case::new(t.done(), size, random)
}

/// Floats whose products and sums are exact, whether they are one operation or two.
fn products_and_sums(random: &mut Random) -> Case {
    let mut t = Text::new();
    let (ty, bytes) = random.pick(&[("f32", 4), ("f64", 8)]);
    let number = |t: &mut Text, far: usize| {
        let index = t.value("i64", &format!("iadd %g, i64 {far}"));
        let v = t.load("i32", &index, 4);
        let v = t.value("i32", &format!("and {v}, i32 63"));
        t.value(ty, &format!("to.stof {v}"))
    };
    let (a, b, c) = (number(&mut t, 0), number(&mut t, 9), number(&mut t, 21));
    let product = t.value(ty, &format!("fmul {a}, {b}"));
    let v = match random.below(3) {
        0 => t.value(ty, &format!("fadd {product}, {c}")),
        1 => t.value(ty, &format!("fsub {c}, {product}")),
        _ => t.value(ty, &format!("fsub {product}, {c}")),
    };
    t.store(&v, "%g", bytes);
    let size = random.pick(&[32, 64, 21]);
    Case::new(t.done(), size, random)
}
