//! Group operations on every width, and values of unusual types (types.spvasm).

use super::hand::folds;
use super::{Arg, Case, Draw, Expect, Near, bytes, case, half_bits, input, output, reals};

/// The low `size` bytes of each number.
fn narrow(values: &[u64], size: usize) -> Vec<u8> {
    let part = |v: &u64| v.to_le_bytes()[..size].to_vec();
    values.iter().flat_map(part).collect()
}

fn signed(v: u64, size: usize) -> i64 {
    let unused = 64 - 8 * size as u32;
    ((v << unused) as i64) >> unused
}

/// Groups and their size, and how many work-items an operation spans; the last sub-group is not full.
const WORK_GROUPS: [(u32, usize, usize); 3] = [(2, 24, 24), (1, 37, 37), (5, 7, 7)];
const SUB_GROUPS: [(u32, usize, usize); 2] = [(2, 16, 8), (3, 21, 8)];

/// The spans in which `n` items of groups of `size` are taken together.
fn spans(n: usize, size: usize, span: usize) -> Vec<std::ops::Range<usize>> {
    let in_group = |start: usize| {
        (start..start + size)
            .step_by(span)
            .map(move |s| s..(s + span).min(start + size))
    };
    (0..n).step_by(size).flat_map(in_group).collect()
}

fn whole(cases: &mut Vec<Case>, name: &str, size: usize) {
    let mut draw = Draw::new(size as u64 + 60);
    let mask = u64::MAX >> (64 - 8 * size);
    let (low, high) = (1u64 << (8 * size - 1), mask >> 1);
    for (kind, grids) in [("wg", &WORK_GROUPS[..]), ("sg", &SUB_GROUPS[..])] {
        for &(groups, items, span) in grids {
            let n = groups as usize * items;
            let x: Vec<u64> = (0..n).map(|_| draw.next() & mask).collect();
            type Fold<'a> = (u64, &'a dyn Fn(u64, u64) -> u64);
            let smaller = |a, b| {
                if signed(a, size) < signed(b, size) {
                    a
                } else {
                    b
                }
            };
            let larger = |a, b| {
                if signed(a, size) < signed(b, size) {
                    b
                } else {
                    a
                }
            };
            let ops: [Fold<'_>; 7] = [
                (0, &|a, b| a.wrapping_add(b) & mask),
                (high, &smaller),
                (low, &larger),
                (mask, &|a, b| a.min(b)),
                (0, &|a, b| a.max(b)),
                (0, &|a, b| a ^ b),
                (1, &|a, b| a.wrapping_mul(b) & mask),
            ];
            let mut out = Vec::new();
            for range in spans(n, items, span) {
                let part = &x[range];
                let all: Vec<[Vec<u64>; 3]> =
                    ops.iter().map(|(i, f)| folds(part, *i, *f)).collect();
                for item in 0..part.len() {
                    out.extend(
                        all.iter()
                            .flat_map(|r| [r[0][item], r[1][item], r[2][item]]),
                    );
                    out.push(part[2]);
                }
            }
            let expected = narrow(&out, size);
            let buffer = Arg::Out(vec![0xa5; expected.len()], Expect::Bytes(expected));
            let args = vec![Arg::In(narrow(&x, size)), buffer];
            cases.push(case(
                "types",
                &format!("{kind}_{name}"),
                groups,
                items as u32,
                args,
            ));
        }
    }
}

/// Values of a float type as a buffer.
fn floats(values: &[f64], size: usize) -> Vec<u8> {
    match size {
        2 => bytes(&values.iter().map(|&v| half_bits(v)).collect::<Vec<_>>()),
        4 => bytes(&values.iter().map(|&v| v as f32).collect::<Vec<_>>()),
        _ => bytes(values),
    }
}

fn real(cases: &mut Vec<Case>, name: &str, size: usize) {
    for (kind, grids) in [("wg", &WORK_GROUPS[..]), ("sg", &SUB_GROUPS[..])] {
        for &(groups, items, span) in grids {
            let n = groups as usize * items;
            // Sums and products of these are exact in any order, for half too.
            let x: Vec<f64> = (0..n)
                .map(|i| [1.0, 2.0, 0.5, -1.0, 1.0, 0.5, 2.0, -1.0][(i * 3) % 8])
                .collect();
            type Fold = (f64, fn(f64, f64) -> f64);
            let ops: [Fold; 4] = [
                (0.0, |a, b| a + b),
                (f64::INFINITY, f64::min),
                (f64::NEG_INFINITY, f64::max),
                (1.0, |a, b| a * b),
            ];
            let mut out = Vec::new();
            for range in spans(n, items, span) {
                let part = &x[range];
                let all: Vec<[Vec<f64>; 3]> = ops.iter().map(|(i, f)| folds(part, *i, f)).collect();
                for item in 0..part.len() {
                    out.extend(
                        all.iter()
                            .flat_map(|r| [r[0][item], r[1][item], r[2][item]]),
                    );
                    out.push(part[2]);
                }
            }
            let out = out.into_iter().map(|v| (v, Near::Value)).collect();
            let args = vec![Arg::In(floats(&x, size)), reals(size, out)];
            cases.push(case(
                "types",
                &format!("{kind}_{name}"),
                groups,
                items as u32,
                args,
            ));
        }
    }
}

/// Shuffles move bits, whatever they mean.
fn shuffles(cases: &mut Vec<Case>, name: &str, size: usize) {
    let mut draw = Draw::new(size as u64 + 70);
    let x: Vec<u64> = (0..64).map(|_| draw.next()).collect();
    let mut out = Vec::new();
    for g in x.chunks_exact(16) {
        for l in 0..16usize {
            out.extend([g[l ^ 9], g[l ^ 4], g[(l + 3) % 16], g[(l + 11) % 16]]);
        }
    }
    let expected = narrow(&out, size);
    let buffer = Arg::Out(vec![0xa5; expected.len()], Expect::Bytes(expected));
    let args = vec![Arg::In(narrow(&x, size)), buffer];
    cases.push(case("types", &format!("shuffle_{name}"), 2, 32, args));
}

fn values() -> Case {
    let a: Vec<u32> = (0..11).map(|i| i * 7 % 10 + 1).collect();
    let b: Vec<u32> = (0..8).map(|i| i * 3 % 8 + 2).collect();
    let n: [i16; 8] = [0, -1, -5, 3, 5, -3, 1, -2];
    let (mut out, mut f) = (Vec::new(), Vec::new());
    for i in 0..8usize {
        let (x, y, odd) = (a[i], b[i], a[i] & 1 == 1);
        let less = x < y;
        let far = a[(5 + i32::from(n[i])) as usize];
        out.extend([
            if odd { x } else { y },
            if odd { x } else { y },
            if odd { y } else { i as u32 },
            u32::from(!odd || less),
            u32::from(less),
            if less { x } else { y },
            far,
            far,
            far,
        ]);
        let sign = if less { 1.0 } else { -1.0 };
        let value = |v: f64| (v * sign, Near::Exact);
        f.extend([
            value(f64::from(x)),
            value(f64::from(x)),
            value(2.0),
            (0.0, Near::Free),
        ]);
    }
    case(
        "types",
        "values",
        2,
        4,
        vec![input(&a), input(&b), input(&n), output(&out), reals(4, f)],
    )
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![values()];
    for (name, size) in [("uchar", 1), ("ushort", 2), ("uint", 4), ("ulong", 8)] {
        whole(&mut cases, name, size);
    }
    for (name, size) in [("half", 2), ("float", 4), ("double", 8)] {
        real(&mut cases, name, size);
        shuffles(&mut cases, name, size);
    }
    for (name, size) in [("uchar", 1), ("ushort", 2), ("ulong", 8)] {
        shuffles(&mut cases, name, size);
    }
    cases
}
