//! Shapes of groups: barriers, local memory, sub-groups.

use super::text::Text;
use super::{Case, Shape};
use crate::random::ingredients::Random;

pub(super) const SHAPES: &[(&str, Shape)] = &[
    ("trees upward", trees_up),
    ("trees downward", trees_down),
    ("sums by halves", halves),
    ("tiles", tiles),
    ("sub-groups", sub_groups),
    ("butterflies", butterflies),
    ("block accesses", blocks),
    ("lock step", lock_step),
    ("local counters", counters),
    ("row conditions", row_conditions),
];

/// Rows of groups whose last sub-group has at least four lanes, whatever the size of sub-groups.
const ROWS: [[u32; 3]; 8] = [
    [20, 1, 1],
    [5, 4, 1],
    [7, 4, 1],
    [32, 2, 1],
    [16, 2, 1],
    [12, 1, 1],
    [36, 1, 1],
    [8, 4, 1],
];

/// Fills `@t`, two elements for each work-item, from the input.
fn fill(t: &mut Text, size: u32) {
    t.global("var @t: [256 x i32] in local");
    for far in [0, size] {
        let from = t.value("i64", &format!("iadd %g, i64 {far}"));
        let v = t.load("i32", &from, 4);
        let to = t.value("i64", &format!("iadd %l, i64 {far}"));
        let at = t.at("local", "@t", &to, 4, 0);
        t.line(&format!("store {at}, {v} align 4"));
    }
}

/// Writes `@t` to the output.
fn write(t: &mut Text, size: u32) {
    t.line("barrier Workgroup");
    t.line("%group: i64 = wi.WorkgroupId 0");
    let base = t.value("i64", &format!("imul %group, i64 {}", 2 * size));
    for far in [0, size] {
        let from = t.value("i64", &format!("iadd %l, i64 {far}"));
        let at = t.at("local", "@t", &from, 4, 0);
        let v = t.value("i32", &format!("load {at} align 4"));
        let to = t.value("i64", &format!("iadd {base}, {from}"));
        t.store(&v, &to, 4);
    }
}

/// A step of a tree: the elements `off` apart of the first `d` work-items.
fn step(t: &mut Text, off: &str, d: &str, upward: bool) {
    let some = t.value("bool", &format!("cmp.ult %l32, {d}"));
    t.guarded(&some, |t| {
        let twice = t.value("i32", "shl %l32, i32 1");
        let place = |t: &mut Text, more: u32| {
            let at = t.value("i32", &format!("iadd {twice}, i32 {more}"));
            let at = t.value("i32", &format!("imul {off}, {at}"));
            let at = t.value("i32", &format!("iadd {at}, i32 4294967295"));
            let at = t.wide("zext", &at);
            t.at("local", "@t", &at, 4, 0)
        };
        let (a, b) = (place(t, 1), place(t, 2));
        let x = t.value("i32", &format!("load {a} align 4"));
        let y = t.value("i32", &format!("load {b} align 4"));
        let z = t.value("i32", &format!("iadd {x}, {y}"));
        if !upward {
            t.line(&format!("store {a}, {y} align 4"));
        }
        t.line(&format!("store {b}, {z} align 4"));
    });
}

/// A loop over steps. What begins it and whether it goes on, `off` and `d` of the next iteration.
fn tree(random: &mut Random, upward: bool) -> Case {
    let size = random.pick(&[32u32, 64]);
    let mut t = Text::new();
    fill(&mut t, size);
    // A number that nobody counts with beforehand, now and then.
    let hidden = match random.below(2) {
        0 => t.value("i32", "lshr %n, i32 8"),
        _ => "i32 0".to_owned(),
    };
    let off = if upward { 1 } else { 2 * size };
    let first_off = t.value("i32", &format!("iadd {hidden}, i32 {off}"));
    let d = if upward { size } else { 1 };
    let first_d = t.value("i32", &format!("iadd {hidden}, i32 {d}"));
    let [head, work, latch, exit] = [(); 4].map(|()| t.label());
    let [off, d, off_next, d_next] = [(); 4].map(|()| t.name());
    let entry = t.block.clone();
    t.line(&format!("br {head}"));
    t.start(&head);
    t.line(&format!(
        "{off}: i32 = phi {entry}: {first_off}, {latch}: {off_next}"
    ));
    t.line(&format!(
        "{d}: i32 = phi {entry}: {first_d}, {latch}: {d_next}"
    ));
    let more = match upward {
        true => t.value("bool", &format!("cmp.sgt {d}, i32 0")),
        false => t.value("bool", &format!("cmp.slt {d}, i32 {}", 2 * size)),
    };
    t.line(&format!("br_if {more}, {work}, {exit}"));
    t.start(&work);
    t.line("barrier Workgroup");
    let here = match upward {
        true => off.clone(),
        false => t.value("i32", &format!("lshr {off}, i32 1")),
    };
    step(&mut t, &here, &d, upward);
    t.line(&format!("br {latch}"));
    t.start(&latch);
    match upward {
        true => {
            t.line(&format!("{off_next}: i32 = shl {off}, i32 1"));
            t.line(&format!("{d_next}: i32 = lshr {d}, i32 1"));
        }
        false => {
            t.line(&format!("{off_next}: i32 = lshr {off}, i32 1"));
            t.line(&format!("{d_next}: i32 = shl {d}, i32 1"));
        }
    }
    t.line(&format!("br {head}"));
    t.start(&exit);
    write(&mut t, size);
    Case::new(t.done(), size, random)
}

fn trees_up(random: &mut Random) -> Case {
    tree(random, true)
}

fn trees_down(random: &mut Random) -> Case {
    tree(random, false)
}

/// Half of the work-items add what the other half has, again and again.
fn halves(random: &mut Random) -> Case {
    let size = random.pick(&[32u32, 64]);
    let mut t = Text::new();
    fill(&mut t, size);
    t.line("barrier Workgroup");
    if random.below(2) == 0 {
        // Between these nothing happens.
        t.line("barrier Workgroup");
    }
    let start = [("i32", format!("i32 {size}"))];
    let trips = size.ilog2() + 1;
    t.repeat(&format!("i32 {trips}"), &start, |t, _, far| {
        let far = far[0].clone();
        let some = t.value("bool", &format!("cmp.ult %l32, {far}"));
        t.guarded(&some, |t| {
            let other = t.value("i32", &format!("iadd %l32, {far}"));
            let other = t.wide("zext", &other);
            let from = t.at("local", "@t", &other, 4, 0);
            let x = t.value("i32", &format!("load {from} align 4"));
            let at = t.at("local", "@t", "%l", 4, 0);
            let y = t.value("i32", &format!("load {at} align 4"));
            let z = t.value("i32", &format!("iadd {x}, {y}"));
            t.line(&format!("store {at}, {z} align 4"));
        });
        t.line("barrier Workgroup");
        vec![t.value("i32", &format!("lshr {far}, i32 1"))]
    });
    if random.below(2) == 0 {
        let first = t.value("bool", "cmp.ieq %l32, i32 0");
        t.guarded(&first, |t| {
            let at = t.at("local", "@t", "i64 0", 4, 0);
            let v = t.value("i32", &format!("load {at} align 4"));
            let v = t.value("i32", &format!("imul {v}, i32 3"));
            t.line(&format!("store {at}, {v} align 4"));
        });
    }
    write(&mut t, size);
    Case::new(t.done(), size, random)
}

/// Products of tiles: sub-groups exchange values in a loop that carries many sums along.
fn tiles(random: &mut Random) -> Case {
    let sub_group = random.pick(&[8u32, 16, 32]);
    let count = 16 + random.below(10);
    let wide = sub_group < 32;
    let ty = if wide { "<4 x i32>" } else { "i32" };
    let bytes = if wide { 16 } else { 4 };
    let mut t = Text::new();
    // By two dimensions it is not known to be one more from lane to lane.
    match random.below(3) {
        0 => t.line("%linear: i64 = wi.LocalInvocationIndex 0"),
        _ => {
            t.line("%l1: i64 = wi.LocalInvocationId 1");
            t.line("%w0: i64 = wi.WorkgroupSize 0");
            t.line("%row: i64 = imul %l1, %w0");
            t.line("%linear: i64 = iadd %row, %l");
        }
    }
    t.line("%linear32: i32 = to.trunc %linear");
    let by = random.pick(&[1, 1, 3]);
    let place = t.value("i32", &format!("imul %linear32, i32 {by}"));
    let how = random.pick(&["sext", "zext"]);
    let zeros = (0..count).map(|_| (ty, format!("{ty} null")));
    let start: Vec<(&str, String)> = [("i32", place)].into_iter().chain(zeros).collect();
    let direct = random.below(2) == 0;
    let made = t.repeat("%n", &start, |t, turn, values| {
        let at = match direct {
            true => values[0].clone(),
            false => t.value("i32", &format!("and {}, i32 1023", values[0])),
        };
        let at = t.wide(how, &at);
        let own = t.load(ty, &at, bytes);
        let other = t.wide("zext", turn);
        let shared = t.load(ty, &other, bytes);
        let mut nexts = vec![t.value("i32", &format!("iadd {}, i32 11", values[0]))];
        for (i, sum) in values[1..].iter().enumerate() {
            let lane = i % 4;
            let moved = t.value(ty, &format!("group.shuffle Subgroup {own}, i32 {lane}"));
            let product = t.value(
                ty,
                &format!("imul {moved}, {}", if i % 3 == 0 { &shared } else { &own }),
            );
            nexts.push(t.value(ty, &format!("iadd {sum}, {product}")));
        }
        nexts
    });
    let mut all = "%linear32".to_owned();
    for (i, sum) in made[1..].iter().enumerate() {
        let parts = if wide { 4 } else { 1 };
        for part in 0..parts {
            let one = match wide {
                true => t.value("i32", &format!("extract {sum} [{part}]")),
                false => sum.clone(),
            };
            let scaled = t.value("i32", &format!("imul {all}, i32 {}", 2 * i + 3));
            all = t.value("i32", &format!("iadd {scaled}, {one}"));
        }
    }
    // Kernels of more than 200 instructions have one copy of the code.
    for i in 0..60 {
        let scaled = t.value("i32", &format!("imul {all}, i32 {}", 2 * i + 5));
        all = t.value("i32", &format!("xor {scaled}, i32 {i}"));
    }
    t.line("%group: i64 = wi.WorkgroupId 0");
    let to = t.value("i64", "imul %group, i64 64");
    let to = t.value("i64", &format!("iadd {to}, %linear"));
    t.store(&all, &to, 4);
    let size = random.pick(&ROWS);
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case.sub_group = sub_group;
    case.required = random.below(4) == 0;
    case
}

/// Lanes exchange values at a distance that each iteration doubles.
fn butterflies(random: &mut Random) -> Case {
    let mut t = Text::new();
    let mut v = t.load("i32", "%g", 4);
    let iterations = 2 + random.below(2);
    let start = [("i32", v), ("i32", "i32 1".to_owned())];
    let made = t.repeat(&format!("i32 {iterations}"), &start, |t, k, values| {
        let (v, mask) = (&values[0], &values[1]);
        let by = match random.below(3) {
            0 => k.to_owned(),
            1 => t.value("i32", &format!("shl i32 1, {k}")),
            _ => mask.clone(),
        };
        let other = t.value("i32", &format!("group.shuffle_xor Subgroup {v}, {by}"));
        let lane = t.value("i32", "wi.SubgroupLocalInvocationId 0");
        let bit = t.value("i32", &format!("and {lane}, {by}"));
        let is = t.value("bool", &format!("cmp.ieq {bit}, i32 0"));
        let sum = t.value("i32", &format!("iadd {v}, {other}"));
        let rest = t.value("i32", &format!("isub {other}, {v}"));
        let v = t.value("i32", &format!("select {is}, {sum}, {rest}"));
        let mask = t.value("i32", &format!("shl {mask}, i32 1"));
        vec![v, mask]
    });
    v = made[0].clone();
    t.store(&v, "%g", 4);
    // Whole sub-groups.
    let size = random.pick(&[32, 64]);
    Case::new(t.done(), size, random)
}

/// Operations of sub-groups whose rows are whole, parts of one, or neither.
fn sub_groups(random: &mut Random) -> Case {
    let size = random.pick(&ROWS);
    let whole = (size[0] * size[1]).is_multiple_of(32);
    let mut t = Text::new();
    t.line("%linear: i64 = wi.LocalInvocationIndex 0");
    t.line("%group: i64 = wi.WorkgroupId 0");
    let to = t.value("i64", "imul %group, i64 64");
    let to = t.value("i64", &format!("iadd {to}, %linear"));
    let mut v = t.load("i32", &to, 4);
    for _ in 0..4 {
        let op = random.pick(&[
            "reduce.iadd",
            "reduce.umax",
            "inclusive_scan.iadd",
            "exclusive_scan.xor",
            "clustered_reduce.iadd.4",
            "broadcast_first",
            "elect",
            "ballot",
            "broadcast",
            "shuffle",
            "shuffle_xor",
            "shuffle_down",
        ]);
        let made = match op {
            "elect" => {
                let is = t.value("bool", "group.elect Subgroup");
                t.value("i32", &format!("select {is}, {v}, i32 5"))
            }
            "ballot" => {
                let odd = t.value("i32", &format!("and {v}, i32 1"));
                let odd = t.value("bool", &format!("cmp.ine {odd}, i32 0"));
                let bits = t.value("<4 x i32>", &format!("group.ballot Subgroup {odd}"));
                t.value("i32", &format!("extract {bits} [0]"))
            }
            "broadcast" | "shuffle" => {
                let lane = random.below(4);
                t.value("i32", &format!("group.{op} Subgroup {v}, i32 {lane}"))
            }
            "shuffle_xor" | "shuffle_down" if !whole => {
                t.value("i32", &format!("group.reduce.smin Subgroup {v}"))
            }
            "shuffle_xor" => t.value("i32", &format!("group.shuffle_xor Subgroup {v}, i32 3")),
            "shuffle_down" => {
                // From lanes that are there.
                let lane = t.value("i32", "wi.SubgroupLocalInvocationId 0");
                let low = t.value("i32", &format!("and {lane}, i32 1"));
                t.value("i32", &format!("group.shuffle_xor Subgroup {v}, {low}"))
            }
            op => t.value("i32", &format!("group.{op} Subgroup {v}")),
        };
        v = t.value("i32", &format!("isub {made}, {v}"));
    }
    t.store(&v, &to, 4);
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case.required = random.below(2) == 0;
    case
}

/// A sub-group's rows of elements.
fn blocks(random: &mut Random) -> Case {
    let rows = random.pick(&[1usize, 2, 4]);
    let (element, bytes) = random.pick(&[("i32", 4usize), ("i16", 2), ("i64", 8)]);
    let ty = match rows {
        1 => element.to_owned(),
        _ => format!("<{rows} x {element}>"),
    };
    let mut t = Text::new();
    t.line("%group: i64 = wi.WorkgroupId 0");
    t.line("%number: i32 = wi.SubgroupId 0");
    t.line("%lanes: i32 = wi.SubgroupMaxSize 0");
    let number = t.wide("zext", "%number");
    let lanes = t.wide("zext", "%lanes");
    let at = t.value("i64", &format!("imul {number}, {lanes}"));
    let first = t.value("i64", "imul %group, i64 128");
    let at = t.value("i64", &format!("iadd {first}, {at}"));
    let at = t.value("i64", &format!("imul {at}, i64 {rows}"));
    let from = t.at("global", "%in", &at, bytes, 0);
    let v = t.value(&ty, &format!("group.block_read Subgroup {from}"));
    let v = t.value(&ty, &format!("iadd {v}, {v}"));
    let to = t.at("global", "%out", &at, bytes, 0);
    t.line(&format!("group.block_write Subgroup {to}, {v}"));
    let size = random.pick(&ROWS);
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case
}

/// Lanes that read what others have just written, without a barrier.
fn lock_step(random: &mut Random) -> Case {
    let size = random.pick(&[32u32, 64]);
    let mut t = Text::new();
    t.global("var @t: [64 x i32] in local");
    let v = t.load("i32", "%g", 4);
    let at = t.at("local", "@t", "%l", 4, 0);
    t.line(&format!("store {at}, {v} align 4"));
    let other = t.value("i64", &format!("xor %l, i64 {}", random.pick(&[1, 2, 3])));
    let at = t.at("local", "@t", &other, 4, 0);
    let w = t.value("i32", &format!("load {at} align 4"));
    let v = t.value("i32", &format!("isub {w}, {v}"));
    t.store(&v, "%g", 4);
    let mut case = Case::new(t.done(), size, random);
    case.prepared = true;
    case
}

/// Counters of a group in local memory.
fn counters(random: &mut Random) -> Case {
    let size = random.pick(&[32u32, 64, 20]);
    let mut t = Text::new();
    t.global("var @t: [16 x i32] in local");
    let own = t.value("i64", "and %l, i64 15");
    let own = t.at("local", "@t", &own, 4, 0);
    t.line(&format!("store {own}, i32 3 align 4"));
    t.line("barrier Workgroup");
    let op = random.pick(&["iadd", "isub", "or", "xor", "umax", "smin", "and"]);
    let none: [(&str, String); 0] = [];
    t.repeat("%n", &none, |t, i, _| {
        let i = t.wide("zext", i);
        let from = t.value("i64", &format!("iadd %g, {i}"));
        let v = t.load("i32", &from, 4);
        let bin = t.value("i32", &format!("and {v}, i32 15"));
        let bin = t.wide("zext", &bin);
        let at = t.at("local", "@t", &bin, 4, 0);
        t.value("i32", &format!("atomic.{op} Workgroup Relaxed {at}, {v}"));
        Vec::new()
    });
    t.line("barrier Workgroup");
    let v = t.value("i32", &format!("load {own} align 4"));
    t.store(&v, "%g", 4);
    Case::new(t.done(), size, random)
}

/// Work-items swap values behind a condition on the row, which is the same for all rows of a group.
fn row_conditions(random: &mut Random) -> Case {
    let size = random.pick(&ROWS);
    let last = size.iter().product::<u32>() - 1;
    let mut t = Text::new();
    t.global("var @t: [256 x i32] in local");
    t.line("%y: i64 = wi.GlobalInvocationId 1");
    t.line("%y32: i32 = to.trunc %y");
    t.line("%linear: i64 = wi.LocalInvocationIndex 0");
    t.line("%group: i64 = wi.WorkgroupId 0");
    let base = t.value("i64", "imul %group, i64 128");
    let place = t.value("i64", &format!("iadd {base}, %linear"));
    let rows = random.pick(&[0, size[1], size[1], 100]);
    let some = t.value("bool", &format!("cmp.ult %y32, i32 {rows}"));
    let (exchanges, loops) = (random.below(2) == 0, random.below(2) == 0);
    t.guarded(&some, |t| {
        let v = t.load("i32", &place, 4);
        let own = t.at("local", "@t", "%linear", 4, 0);
        t.line(&format!("store {own}, {v} align 4"));
        let start = [("i32", v)];
        let trips = if loops { "%n" } else { "i32 1" };
        let made = t.repeat(trips, &start, |t, turn, values| {
            t.line("barrier Workgroup");
            let other = t.value("i64", &format!("isub i64 {last}, %linear"));
            let at = t.at("local", "@t", &other, 4, 0);
            let mut w = t.value("i32", &format!("load {at} align 4"));
            if exchanges {
                w = t.value("i32", &format!("group.reduce.iadd Subgroup {w}"));
            }
            t.line("barrier Workgroup");
            let sum = t.value("i32", &format!("imul {}, i32 3", values[0]));
            let sum = t.value("i32", &format!("iadd {sum}, {w}"));
            let sum = t.value("i32", &format!("xor {sum}, {turn}"));
            t.line(&format!("store {own}, {sum} align 4"));
            vec![sum]
        });
        t.store(&made[0], &place, 4);
    });
    let mut case = Case::new(t.done(), size[0], random);
    case.size = size;
    case.required = random.below(4) == 0;
    case
}
