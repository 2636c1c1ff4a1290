//! Instructions that no compiler of the other modules emits; run in the interpreter only.

use super::cases::{Arg, Case, Draw, Expect, Near, bytes, case, changed, input, output, reals};

/// Bytes of `word`, signed or not.
fn four(word: u32, signed: bool) -> [i64; 4] {
    word.to_le_bytes().map(|b| {
        if signed {
            i64::from(b as i8)
        } else {
            i64::from(b)
        }
    })
}

fn dot(x: u32, y: u32, signed: (bool, bool)) -> i64 {
    let pairs = four(x, signed.0).into_iter().zip(four(y, signed.1));
    pairs.map(|(a, b)| a * b).sum()
}

fn whole() -> Case {
    let mut values = vec![
        0u32,
        1,
        7,
        u32::MAX,
        0x8000_0000,
        0x7fff_ffff,
        0x0403_0201,
        0xff02_fe7f,
        0x8080_8080,
        0x0000_8000,
    ];
    let mut draw = Draw::new(6);
    values.extend(
        draw.ints(6, -2_000_000_000, 2_000_000_000)
            .iter()
            .map(|&v| v as u32),
    );
    let (mut pairs, mut out) = (Vec::new(), Vec::new());
    for &x in &values {
        for &y in &values {
            pairs.extend([x, y]);
            let (sx, sy) = (x as i32, y as i32);
            let (wide, signed) = (u64::from(x) * u64::from(y), i64::from(sx) * i64::from(sy));
            let sum = i64::from(sx) + i64::from(sy);
            let unsigned_sum = u64::from(x) + u64::from(y);
            let field = 0x1ff << 5;
            let clamp = |v: i64| v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32;
            let (xm, ym) = (x & 0xfff, y & 0xfff);
            out.extend([
                wide as u32,
                (wide >> 32) as u32,
                signed as u32,
                (signed >> 32) as u32,
                x.wrapping_add(y),
                (unsigned_sum >> 32) as u32,
                x.wrapping_sub(y),
                u32::from(x < y),
                x.reverse_bits(),
                x & !field | y << 5 & field,
                ((x << 18) as i32 >> 23) as u32,
                x >> 5 & 0x1ff,
                x.leading_zeros(),
                x.trailing_zeros(),
                sx.abs_diff(sy),
                x.abs_diff(y),
                sx.saturating_add(sy) as u32,
                x.saturating_add(y),
                (sum >> 1) as u32,
                (unsigned_sum >> 1) as u32,
                ((sum + 1) >> 1) as u32,
                ((unsigned_sum + 1) >> 1) as u32,
                sx.saturating_sub(sy) as u32,
                x.saturating_sub(y),
                x.wrapping_mul(i32::from(y as i16) as u32),
                x.wrapping_mul(u32::from(y as u16)),
                xm * ym,
                (xm * ym).wrapping_add(y),
                dot(x, y, (true, true)) as u32,
                dot(x, y, (false, false)) as u32,
                dot(x, y, (true, false)) as u32,
                clamp(dot(x, y, (true, true)) + i64::from(sx)),
                (dot(x, y, (false, false)) + i64::from(x)).min(i64::from(u32::MAX)) as u32,
                clamp(dot(x, y, (true, false)) + i64::from(sx)),
            ]);
        }
    }
    let groups = (values.len() * values.len() / 8) as u32;
    case(
        "further",
        "whole",
        groups,
        8,
        vec![input(&pairs), output(&out)],
    )
}

fn lanes() -> Case {
    // Some votes are unanimous in one sub-group and not in another.
    let x: Vec<u32> = [5, -3, 7, 13, -11, 0x25, 0x15, 0x4d]
        .into_iter()
        .chain([2, 6, 10, 14, 18, 22, 26, 30])
        .chain([6, 10, 3, 2, 7, 11, 2, 19])
        .chain([1, 4, 2, 8, 5, 9, 12, 16])
        .map(|v: i32| v as u32)
        .collect();
    let mut out = Vec::new();
    for x in x.chunks_exact(8) {
        let fold =
            |f: &dyn Fn(u32, u32) -> u32| x.iter().copied().reduce(f).expect("eight of them");
        let c: Vec<bool> = x.iter().map(|x| x & 2 != 0).collect();
        let f: Vec<f32> = x.iter().map(|x| (x & 3) as f32 + 1.0).collect();
        let ballot = c.iter().rev().fold(0u32, |n, &c| n << 1 | u32::from(c));
        let all = c.iter().all(|&c| c);
        let any = c.iter().any(|&c| c);
        let equal = x.iter().all(|v| v & 3 == x[0] & 3);
        for l in 0..8usize {
            out.extend([
                fold(&u32::wrapping_mul),
                fold(&|a, b| (a as i32).min(b as i32) as u32),
                fold(&u32::min),
                fold(&|a, b| (a as i32).max(b as i32) as u32),
                fold(&|a, b| a & b),
                fold(&|a, b| a | b),
                fold(&|a, b| a ^ b),
                u32::from(all),
                u32::from(any),
                ballot.count_ones() & 1,
                f.iter().sum::<f32>() as u32,
                f.iter().product::<f32>() as u32,
                f.iter().copied().fold(f32::MAX, f32::min) as u32,
                ballot,
                u32::from(c[l ^ 1]),
                31 - ballot.leading_zeros(),
                x[l & !3 | 2],
                x[l ^ 1],
                x[l ^ 2],
                x[l ^ 3],
                x[(l + 3) % 8],
                x[l & !3 | (l + 1) & 3],
                x[0],
                u32::from(all),
                u32::from(any),
                u32::from(equal),
                x[5],
            ]);
        }
    }
    case("further", "lanes", 2, 16, vec![input(&x), output(&out)])
}

/// A float as the nearest of 16 bits, within their normal range.
fn quantized(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits((bits + 0xfff + (bits >> 13 & 1)) & !0x1fff)
}

fn rough() -> Case {
    let x = [0.25f32, 0.5, 1.5, 2.0, 3.0, 0.1, 5.0, 7.0];
    let mut out = Vec::new();
    for &x in &x {
        let v = f64::from(x);
        let y = v + 1.0;
        // What OpenCL C asks of half_ and, for floats, of fast_ functions.
        let near = Near::Ulps(8192.0);
        for value in [
            v.cos(),
            v.exp(),
            v.exp2(),
            10f64.powf(v),
            v.ln(),
            v.log2(),
            v.log10(),
            1.0 / v,
            1.0 / v.sqrt(),
            v.sin(),
            v.sqrt(),
            v.tan(),
            v / y,
            v.powf(y),
        ] {
            out.push((value, near));
        }
        let length = v.hypot(y);
        out.extend([
            (v.max(1.0), Near::Exact),
            (v.min(1.0), Near::Exact),
            (length, near),
            ((v - 1.0).hypot(y - 1.0), near),
            (v / length, near),
            (f64::from(quantized(x)), Near::Exact),
            (f64::NAN, Near::Exact),
        ]);
    }
    case("further", "reals", 1, 8, vec![input(&x), reals(4, out)])
}

/// With the specialised length of a private array, if any.
fn places(length: Option<u32>) -> Case {
    let a = [4u32, 5, 4, 0, 9, 4, 1, 4];
    let after = a.map(|v| if v == 4 { 9 } else { v });
    let halves = [0u16, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700];
    let (mut h, mut h_after, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..8 {
        let read = [0, 0, 0, halves[7 - i]];
        h.extend([read, [1; 4], [2; 4], [3; 4]].concat());
        // A third, to nearest and then upwards.
        let stored = |third| [halves[i], 0x3c00, halves[i], third];
        h_after.extend([read, stored(0x3555), stored(0x3555), stored(0x3556)].concat());
        out.extend([
            a[i],
            0x200,
            after[i],
            if length == Some(2) { 14 } else { i as u32 + 7 },
            7 - i as u32,
        ]);
    }
    let args = vec![
        changed(&a, &after),
        changed(&[3.5f32, 3.5], &[0.0, 7.0]),
        Arg::Out(bytes(&h), Expect::Bytes(bytes(&h_after))),
        output(&out),
    ];
    let mut case = case("further", "places", 1, 8, args);
    if let Some(length) = length {
        case.name.push_str(" specialised");
        case.constants = vec![(0, length.to_le_bytes().to_vec())];
    }
    case
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        whole(),
        lanes(),
        rough(),
        places(None),
        places(Some(2)),
        places(Some(70)),
    ]
}
