//! The hand-written modules.

use super::{Arg, Case, Draw, Expect, Near, bytes, case, changed, input, output, reals};

fn bits(list: &[bool]) -> u32 {
    list.iter()
        .enumerate()
        .fold(0, |n, (i, &b)| n | u32::from(b) << i)
}

fn whole_numbers() -> Case {
    let values = [
        0u32,
        1,
        7,
        0xffff_ffff,
        0x8000_0000,
        0x7fff_ffff,
        100,
        0xffff_ff9c,
    ];
    let (mut a, mut b, mut out) = (vec![], vec![], vec![]);
    for &x in &values {
        for &y in &values {
            a.push(x);
            b.push(y);
            let (sx, sy) = (x as i32, y as i32);
            let c = [
                x <= y,
                x >= y,
                sx >= sy,
                sx <= sy,
                x < y,
                x > y,
                sx < sy,
                sx > sy,
                x == y,
                x != y,
            ];
            let more = [
                c[0] != c[3],
                c[0] == c[3],
                !c[6],
                c[4] && c[7],
                c[4] || c[7],
                c[0] || c[3],
                c[0] && c[3],
            ];
            // Without a result of their own, remainders by zero and of INT_MIN by -1 are zero.
            let none = sy == 0 || (sx == i32::MIN && sy == -1);
            let rem = if none { 0 } else { sx % sy };
            let modulo = if rem != 0 && (rem < 0) != (sy < 0) {
                rem + sy
            } else {
                rem
            };
            let vec = [x, y, 7, x];
            let k = (y & 3) as usize;
            let mut changed = vec;
            changed[k] = 99;
            out.extend([
                bits(&[&c[..], &more[..]].concat()),
                x.count_ones(),
                modulo as u32,
                rem as u32,
                x.checked_rem(y).unwrap_or(0),
                x.wrapping_neg(),
                !x,
                x,
                vec[k],
                changed[1].wrapping_mul(y),
                y.wrapping_add(changed[2]),
                x,
            ]);
        }
    }
    case(
        "opcodes",
        "ints",
        8,
        8,
        vec![input(&a), input(&b), output(&out)],
    )
}

fn floats() -> Case {
    let values = [
        0.0f32,
        -0.0,
        1.5,
        -2.75,
        7.0,
        f32::INFINITY,
        f32::NAN,
        1e-42,
    ];
    let (mut a, mut b, mut out, mut classes) = (vec![], vec![], vec![], vec![]);
    for &x in &values {
        for &y in &values {
            a.push(x);
            b.push(y);
            let rem = x % y;
            let modulo = if rem != 0.0 && (rem < 0.0) != (y < 0.0) {
                rem + y
            } else {
                rem
            };
            // Where one of the two is infinite, the sign of the divisor has no meaning to agree on.
            let near = if y.is_infinite() {
                Near::Free
            } else {
                Near::Value
            };
            let real = |v: f32| f64::from(v);
            out.extend([
                (real(rem), Near::Value),
                (real(modulo), near),
                (real(-x), Near::Exact),
                (real(x + y), Near::Value),
            ]);
            let unordered = x.is_nan() || y.is_nan();
            classes.push(bits(&[
                x == y,
                !unordered && x != y,
                x < y,
                x <= y,
                x > y,
                x >= y,
                unordered || x == y,
                x != y,
                unordered || x < y,
                unordered || x <= y,
                unordered || x > y,
                unordered || x >= y,
                !unordered,
                unordered,
                !unordered && x != y,
                x.is_nan(),
                x.is_infinite(),
                x.is_finite(),
                x.is_normal(),
                x.is_sign_negative(),
            ]));
        }
    }
    case(
        "opcodes",
        "floats",
        4,
        16,
        vec![input(&a), input(&b), reals(4, out), output(&classes)],
    )
}

fn pointers() -> Case {
    let a: Vec<u32> = (0..9).map(|i| i * 11 + 1).collect();
    let table: Vec<u64> = vec![1, 1000, 2, 2000, 3, 3000];
    let mut out: Vec<u64> = Vec::new();
    for i in 0..8u64 {
        let x = u64::from(a[i as usize]);
        let even = i % 2 == 0;
        out.extend([
            u64::from(a[i as usize + 1]),
            if even { x } else { 31 },
            // The selected pointer is global or private; the other one is local.
            if even { 1 } else { 4 } | 2 << 3,
            x,
            3000,
            [1000, 2000, 3000][i as usize % 3],
            2000,
            i,
            1,
            0,
            1,
            x,
        ]);
    }
    case(
        "opcodes",
        "pointers",
        2,
        4,
        vec![
            changed(&a, &a),
            Arg::Out(vec![0; 64], Expect::Any),
            output(&out),
            input(&table),
        ],
    )
}

fn flow() -> Case {
    let a = [0u32, 1, 2, 5, 7, 13, 20];
    let mut out = Vec::new();
    for &n in &a {
        let mut s = 0u32;
        for i in 0..n {
            s = match i % 5 {
                0 => 1,
                1 | 4 => s.wrapping_add(i),
                _ => s.wrapping_mul(3),
            };
        }
        out.extend([
            s,
            match n {
                2 => 20,
                7 => 30,
                _ => 10,
            },
        ]);
    }
    case("opcodes", "flow", 1, 7, vec![input(&a), output(&out)])
}

fn atomics() -> Case {
    let mut draw = Draw::new(77);
    let x = draw.ints(32, -1000, 1000);
    let u: Vec<u32> = x.iter().map(|&v| v as u32).collect();
    let mut a = [
        0u32,
        0,
        u32::MAX,
        0,
        u32::MAX,
        0,
        9,
        100,
        100,
        5,
        5,
        1234,
        0,
        55,
        0,
        4,
        0,
        3,
        0,
        0,
        9,
        7,
    ];
    let before = a;
    for (&s, &u) in x.iter().zip(&u) {
        a[0] = (a[0] as i32).min(s) as u32;
        a[1] = (a[1] as i32).max(s) as u32;
        a[2] = a[2].min(u);
        a[3] = a[3].max(u);
        a[4] &= u;
        a[5] |= u;
        a[6] ^= u;
        a[7] = a[7].wrapping_add(u);
        a[8] = a[8].wrapping_sub(u);
        a[9] += 1;
        a[10] = a[10].wrapping_sub(1);
    }
    // One work-item: copied, exchanged, compared with 4, a flag that was clear, a flag cleared.
    a[12] = 1234;
    (a[13], a[14]) = (77, 55);
    (a[15], a[16]) = (5, 4);
    (a[17], a[18]) = (3, 3);
    a[20] = 0;
    a[21] = 0;
    // The value of a set flag is implementation-defined.
    let known = |(i, v): (usize, &u32)| {
        if i == 19 {
            [None; 4]
        } else {
            v.to_le_bytes().map(Some)
        }
    };
    let rest = Expect::Known(a.iter().enumerate().flat_map(known).collect());
    let f: f32 = u.iter().map(|u| (u & 255) as f32).sum();
    let d: f64 = x.iter().map(|&v| f64::from(v)).sum();
    let long =
        |start: i64, f: &dyn Fn(i64, i64) -> i64| x.iter().fold(start, |a, &v| f(a, i64::from(v)));
    let longs = [
        long(5, &i64::min),
        long(5, &i64::max),
        long(-1, &|a, v| (a as u64).min(v as u64) as i64),
        long(0, &|a, v| (a as u64).max(v as u64) as i64),
        long(1 << 40, &|a, v| a + v),
    ];
    let args = vec![
        Arg::Out(bytes(&before), rest),
        changed(&[0.5f32, 8.0, 0.0], &[0.5 + f, 2.5, 8.0]),
        changed(&[0.25f64], &[0.25 + d]),
        changed(&[5i64, 5, -1, 0, 1 << 40], &longs),
        input(&x),
    ];
    case("opcodes", "atomics", 4, 8, args)
}

fn hints() -> Case {
    let a: Vec<u32> = (0..8).map(|i| i * i + 3).collect();
    let b: Vec<f32> = (0..8).map(|i| i as f32 * 0.5 - 1.0).collect();
    // Twice the value and five, then the numbers below ten.
    let out: Vec<u32> = a.iter().map(|x| x + 5 + x + 45).collect();
    let fout = b
        .iter()
        .map(|&f| {
            (
                f64::from(((f + 1.5) * (f + 1.5) - f) / 4.0),
                Near::Ulps(4.0),
            )
        })
        .collect();
    let packed: Vec<u8> = a
        .iter()
        .flat_map(|x| [&[0x42u8][..], &x.to_le_bytes()].concat())
        .collect();
    let s = [0x1234_5642u32.to_le_bytes(), [0; 4], [1; 4], [2; 4]].concat();
    let packed_out = Arg::Out(vec![0xa5; packed.len()], Expect::Bytes(packed));
    case(
        "hints",
        "hints",
        2,
        4,
        vec![
            input(&a),
            input(&b),
            output(&out),
            reals(4, fout),
            packed_out,
            Arg::Value(s),
        ],
    )
}

/// Reduction, inclusive and exclusive scan of `x`, for every item.
pub(super) fn folds<T: Copy>(x: &[T], identity: T, f: &dyn Fn(T, T) -> T) -> [Vec<T>; 3] {
    let fold = |v: &[T]| v.iter().fold(identity, |a, &b| f(a, b));
    let n = x.len();
    [
        vec![fold(x); n],
        (0..n).map(|i| fold(&x[..=i])).collect(),
        (0..n).map(|i| fold(&x[..i])).collect(),
    ]
}

/// The 32 whole results and 12 floats of every item of one group.
fn group_results(x: &[u32], f: &[f32]) -> (Vec<u32>, Vec<f32>) {
    type Whole = (u32, fn(u32, u32) -> u32);
    let whole: [Whole; 9] = [
        (1, u32::wrapping_mul),
        (u32::MAX, |a, b| a & b),
        (0, |a, b| a | b),
        (0, |a, b| a ^ b),
        (0, u32::wrapping_add),
        (i32::MAX as u32, |a, b| (a as i32).min(b as i32) as u32),
        (i32::MIN as u32, |a, b| (a as i32).max(b as i32) as u32),
        (u32::MAX, Ord::min),
        (0, Ord::max),
    ];
    let c: Vec<bool> = x.iter().map(|x| x & 3 > 0).collect();
    type Logic = (bool, fn(bool, bool) -> bool);
    let logic: [Logic; 3] = [
        (true, |a, b| a && b),
        (false, |a, b| a || b),
        (false, |a, b| a != b),
    ];
    type Real = (f32, fn(f32, f32) -> f32);
    let real: [Real; 4] = [
        (1.0, |a, b| a * b),
        (0.0, |a, b| a + b),
        (f32::INFINITY, f32::min),
        (f32::NEG_INFINITY, f32::max),
    ];
    let whole: Vec<[Vec<u32>; 3]> = whole.iter().map(|(i, g)| folds(x, *i, g)).collect();
    let logic: Vec<[Vec<bool>; 3]> = logic.iter().map(|(i, g)| folds(&c, *i, g)).collect();
    let real: Vec<[Vec<f32>; 3]> = real.iter().map(|(i, g)| folds(f, *i, g)).collect();
    let (mut out, mut fout) = (Vec::new(), Vec::new());
    for item in 0..x.len() {
        for kind in 0..3 {
            out.extend(whole.iter().map(|r| r[kind][item]));
            out.push(bits(
                &logic.iter().map(|r| r[kind][item]).collect::<Vec<_>>(),
            ));
            fout.extend(real.iter().map(|r| r[kind][item]));
        }
        out.push(bits(&[c.iter().all(|&c| c), c.iter().any(|&c| c)]));
        out.push(x[3]);
    }
    (out, fout)
}

fn group_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let x: Vec<u32> = (0..64u32)
        .map(|i| (i * 37 % 23) | 1 << (i % 20) | 4)
        .collect();
    // Powers of two, few of them not one, so that products are exact in any order.
    let f: Vec<f32> = (0..64)
        .map(|i| [1.0, 2.0, 1.0, 0.5, -1.0, 1.0, 4.0, 0.25][i * 5 % 8])
        .collect();
    for (kernel, groups, size, width) in [
        ("work_group", 2u32, 32usize, 32usize),
        ("work_group", 4, 15, 15),
        ("sub_group", 1, 64, 16),
        ("sub_group", 2, 32, 16),
    ] {
        let n = groups as usize * size;
        let (mut out, mut fout) = (Vec::new(), Vec::new());
        for start in (0..n).step_by(width) {
            let r = group_results(&x[start..start + width], &f[start..start + width]);
            out.extend(r.0);
            fout.extend(r.1.into_iter().map(|v| (f64::from(v), Near::Value)));
        }
        let args = vec![input(&x[..n]), input(&f[..n]), output(&out), reals(4, fout)];
        cases.push(case("groups", kernel, groups, size as u32, args));
    }

    let x: Vec<u32> = (0..48).map(|i| i * i + 5).collect();
    let mut out = Vec::new();
    for (start, size) in [(0usize, 24usize), (24, 24)] {
        for at in 0..size {
            let (sub, l) = (at / 8, at % 8);
            let g = &x[start + sub * 8..start + sub * 8 + 8];
            out.extend([
                g[7 - l],
                if l + 3 < 8 {
                    g[l + 3]
                } else {
                    g[l + 3 - 8] * 10
                },
                if l >= 2 { g[l - 2] } else { g[l + 6] * 10 },
                g[l ^ 6],
                x[l],
                x[8 + l],
                8,
                8,
                sub as u32,
                3,
                l as u32,
            ]);
        }
    }
    cases.push(case(
        "groups",
        "intel",
        2,
        24,
        vec![input(&x), output(&out), output(&x)],
    ));

    let mut draw = Draw::new(91);
    let x: Vec<u32> = draw.ints(32, 0, 1000).iter().map(|&v| v as u32).collect();
    let f: Vec<f32> = x.iter().map(|&v| v as f32 * 0.5).collect();
    let mut out = Vec::new();
    for (g, f) in x.chunks_exact(8).zip(f.chunks_exact(8)) {
        let c: Vec<bool> = g.iter().map(|x| x & 3 > 0).collect();
        let ballot = bits(&c);
        for l in 0..8 {
            let below = ballot & ((1 << l) - 1);
            out.extend([
                g[l ^ 5],
                g[l ^ 3],
                if l >= 2 { g[l - 2] } else { 0 },
                if l < 5 { g[l + 3] } else { 0 },
                ballot,
                ballot.count_ones(),
                below.count_ones(),
                ballot.trailing_zeros(),
                bits(&[
                    l == 0,
                    c.iter().all(|&c| c),
                    c.iter().any(|&c| c),
                    c[l],
                    g.iter().all(|&x| x == g[0]),
                ]),
                g.iter().sum(),
                g[..=l].iter().sum(),
                g[..l].iter().copied().max().unwrap_or(0),
                g[l / 4 * 4..l / 4 * 4 + 4].iter().sum(),
                g[6],
                g[0],
                f.iter().copied().fold(0.0, f32::max) as u32,
            ]);
        }
    }
    cases.push(case(
        "groups",
        "nonuniform",
        2,
        16,
        vec![input(&x), input(&f), output(&out)],
    ));
    cases
}

fn bf16() -> Case {
    let f = [
        0.0f32,
        -0.0,
        1.0,
        1.003_906_3,
        1.011_718_8,
        -3.0e38,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e-40,
        -1.1,
        65280.0,
    ];
    let h = [
        0u16, 0x8000, 0x3f80, 0x3f81, 0x4049, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x0001, 0xbf8d,
        0x7fc1,
    ];
    let out: Vec<u16> = f
        .iter()
        .map(|x| ((x.to_bits() + 0x7fff + (x.to_bits() >> 16 & 1)) >> 16) as u16)
        .collect();
    let fout = h
        .iter()
        .map(|&h| (f64::from(f32::from_bits(u32::from(h) << 16)), Near::Exact))
        .collect();
    case(
        "bf16",
        "bf16",
        3,
        4,
        vec![input(&f), input(&h), output(&out), reals(4, fout)],
    )
}

fn functions() -> Case {
    let out: Vec<u32> = (0..48u32)
        .map(|i| match i % 3 {
            0 => i + 1,
            1 => i * i,
            _ => i.wrapping_mul(i).wrapping_mul(i).wrapping_mul(i),
        })
        .collect();
    case("pointers", "choose", 3, 16, vec![output(&out)])
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        whole_numbers(),
        floats(),
        pointers(),
        functions(),
        flow(),
        atomics(),
        hints(),
        bf16(),
    ];
    cases.extend(group_cases());
    cases
}
