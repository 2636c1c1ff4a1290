//! Mathematics within OpenCL's bounds, against values computed with 60 digits (math.py), and special
//! values against C's rules.

use super::{Arg, Case, Near, case, input, output, reals};

const EXACT: &str = include_str!("../math.txt");

/// Rows of `EXACT` of one kind.
fn rows(kind: &str) -> Vec<Vec<f64>> {
    let mut rows = Vec::new();
    for line in EXACT.lines() {
        if let Some(rest) = line.strip_prefix(kind) {
            let numbers = rest.split_whitespace().map(|h| u64::from_str_radix(h, 16));
            rows.push(
                numbers
                    .map(|h| f64::from_bits(h.unwrap_or(0xdead)))
                    .collect(),
            );
        }
    }
    assert!(rows.len() > 10, "math.txt has no rows of kind {kind}");
    rows
}

/// Units in the last place that OpenCL's full profile allows for the first 35 results of `one_T`; 0 for
/// lgamma, which it does not bound.
const BOUNDS: [f64; 35] = [
    4.0, 4.0, 4.0, 4.0, 5.0, 5.0, 2.0, 4.0, 4.0, 4.0, 16.0, 16.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0,
    3.0, 2.0, 2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 16.0, 0.0, 5.0, 5.0, 5.0, 6.0, 2.0, 2.0, 3.0,
];

fn near(size: usize, i: usize, x: f64) -> Near {
    // The argument near -2.46, the root of lgamma, is not in the table; elsewhere a relative bound will do.
    let loose = if size == 4 { 1e-4 } else { 1e-11 };
    match BOUNDS[i] {
        0.0 => Near::Absolute(loose * x.abs().max(1.0)),
        ulps => Near::Ulps(ulps),
    }
}

/// The common functions behind the table's: sign, smoothstep, step, mix, clamp.
fn common(size: usize, x: f64) -> [(f64, Near); 5] {
    let round = |x: f64| if size == 4 { f64::from(x as f32) } else { x };
    let t = (x / 2.0).clamp(0.0, 1.0);
    let loose = Near::Absolute(if size == 4 { 1e-6 } else { 1e-15 } * x.abs().max(4.0));
    let sign = if x.is_nan() || x == 0.0 {
        0.0
    } else {
        x.signum()
    };
    [
        (sign, Near::Value),
        (
            t * t * (3.0 - 2.0 * t),
            if x.is_nan() { Near::Free } else { loose },
        ),
        (
            if x < 1.0 { 0.0 } else { 1.0 },
            if x.is_nan() { Near::Free } else { Near::Value },
        ),
        (1.0 + (x - 1.0) * 0.25, loose),
        (
            round(x.clamp(-1.0, 2.0)),
            if x.is_nan() { Near::Free } else { Near::Value },
        ),
    ]
}

/// Results of `one_T` for zeros, infinities and NaN.
fn specials() -> Vec<(f64, [f64; 35])> {
    use std::f64::consts::{FRAC_PI_2, PI};
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    [0.0, -0.0, inf, -inf, nan]
        .into_iter()
        .map(|x: f64| {
            let zero = x == 0.0;
            // cos and its like have no value at infinity.
            let wave = |at_zero: f64| if zero { at_zero } else { nan };
            (
                x,
                [
                    if zero { FRAC_PI_2 } else { nan },
                    if x == inf { inf } else { nan },
                    wave(x),
                    x,
                    x.atan(),
                    wave(x),
                    x,
                    wave(1.0),
                    x.cosh(),
                    wave(1.0),
                    if zero {
                        x
                    } else {
                        x.signum() * if x.is_nan() { nan } else { 1.0 }
                    },
                    if zero {
                        1.0
                    } else if x == inf {
                        0.0
                    } else if x == -inf {
                        2.0
                    } else {
                        nan
                    },
                    x.exp(),
                    x.exp2(),
                    x.exp(),
                    x.exp_m1(),
                    x.ln(),
                    x.ln(),
                    x.ln(),
                    x.ln_1p(),
                    if zero {
                        inf.copysign(x)
                    } else {
                        1.0 / x.sqrt()
                    },
                    wave(x),
                    x.sinh(),
                    wave(x),
                    wave(x),
                    x.tanh(),
                    if zero {
                        inf.copysign(x)
                    } else if x == -inf {
                        nan
                    } else {
                        x
                    },
                    if x.is_nan() { nan } else { inf },
                    if zero { 0.5 } else { nan },
                    wave(x),
                    x.atan() / PI,
                    wave(x),
                    x,
                    x,
                    x.sqrt(),
                ],
            )
        })
        .collect()
}

fn arg(size: usize, values: &[f64]) -> Arg {
    if size == 4 {
        input(&values.iter().map(|&v| v as f32).collect::<Vec<_>>())
    } else {
        input(values)
    }
}

fn of_type(size: usize, name: &str) -> Vec<Case> {
    let (mut x, mut out) = (Vec::new(), Vec::new());
    for row in rows("one") {
        x.push(row[0]);
        out.extend(row[1..].iter().enumerate().map(|(i, &v)| {
            // Poles and jumps: gamma at whole numbers below one, tanpi at the halves, waves of huge numbers.
            let whole = row[0] == row[0].trunc();
            let pole = (i == 26 || i == 27) && row[0] < 0.0 && whole;
            let half =
                i == 31 && (2.0 * row[0]) % 2.0 != 0.0 && (2.0 * row[0]).trunc() == 2.0 * row[0];
            let free = pole || half;
            (v, if free { Near::Free } else { near(size, i, v) })
        }));
        out.extend(common(size, row[0]));
    }
    for (special, results) in specials() {
        x.push(special);
        out.extend(
            results
                .iter()
                .enumerate()
                .map(|(i, &v)| (v, near(size, i, v))),
        );
        out.extend(common(size, special));
    }
    let n = x.len() as u32;
    let mut cases = vec![case(
        "math",
        &format!("one_{name}"),
        1,
        n,
        vec![arg(size, &x), reals(size, out)],
    )];

    let (mut x, mut y, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows("two") {
        x.push(row[0]);
        y.push(row[1]);
        out.extend(
            row[2..]
                .iter()
                .zip([16.0, 16.0, 6.0, 4.0, 6.0])
                .map(|(&v, ulps)| (v, Near::Ulps(ulps))),
        );
    }
    let (inf, nan, pi) = (f64::INFINITY, f64::NAN, std::f64::consts::PI);
    for (a, b, pow, powr, atan2, hypot) in [
        (0.0, 0.0, 1.0, nan, 0.0, 0.0),
        (nan, 0.0, 1.0, nan, nan, nan),
        (1.0, nan, 1.0, nan, nan, nan),
        (-1.0, inf, 1.0, nan, 0.0, inf),
        (0.0, -2.0, inf, inf, pi, 2.0),
        (-0.0, 3.0, -0.0, 0.0, -0.0, 3.0),
        (-0.0, -3.0, -inf, inf, -pi, 3.0),
        (inf, nan, nan, nan, nan, inf),
        (2.0, -inf, 0.0, 0.0, pi, inf),
        (0.5, -inf, inf, inf, pi, inf),
        (-inf, 3.0, -inf, nan, -pi / 2.0, inf),
        (inf, inf, inf, inf, pi / 4.0, inf),
        (1.0, inf, 1.0, nan, 0.0, inf),
    ] {
        x.push(a);
        y.push(b);
        out.extend(
            [
                (pow, 16.0),
                (powr, 16.0),
                (atan2, 6.0),
                (hypot, 4.0),
                (atan2 / pi, 6.0),
            ]
            .map(|(v, u)| (v, Near::Ulps(u))),
        );
    }
    let n = x.len() as u32;
    cases.push(case(
        "math",
        &format!("two_{name}"),
        n,
        1,
        vec![arg(size, &x), arg(size, &y), reals(size, out)],
    ));

    let (mut x, mut n, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows("whole") {
        x.push(row[0]);
        n.push(row[1] as i32);
        out.extend([(row[2], Near::Ulps(16.0)), (row[3], Near::Ulps(16.0))]);
    }
    let count = x.len() as u32;
    cases.push(case(
        "math",
        &format!("whole_{name}"),
        count,
        1,
        vec![arg(size, &x), input(&n), reals(size, out)],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = of_type(4, "float");
    cases.extend(of_type(8, "double"));
    // OpenCL leaves the natives' errors open; ours are no worse than a thousandth.
    let x = [0.1f32, 0.5, 1.0, 1.5, 2.0, 3.0, 5.25, 9.0];
    let mut out = Vec::new();
    for v in x.map(f64::from) {
        let all = [
            v.cos(),
            1.0 / v,
            v.exp(),
            v.exp2(),
            10f64.powf(v),
            v.ln(),
            v.log2(),
            v.log10(),
            v.powf(1.5),
            1.0 / v,
            1.0 / v.sqrt(),
            v.sin(),
            v.sqrt(),
            v.tan(),
        ];
        out.extend(all.map(|r| (r, Near::Absolute(1e-3 * r.abs().max(0.1)))));
    }
    cases.push(case(
        "math",
        "natives",
        1,
        8,
        vec![input(&x), reals(4, out)],
    ));

    let x = [0.5f32, -1.25, 3.0, 100.0, -0.75, 2.5, 7.0, -8.0];
    let mut out = Vec::new();
    for v in x.chunks_exact(4) {
        let wide: Vec<f64> = v.iter().map(|&x| f64::from(x)).collect();
        out.extend(wide.iter().map(|x| (x.sin(), Near::Ulps(4.0))));
        out.extend(wide.iter().map(|x| (x.cos(), Near::Ulps(4.0))));
        let exponent = |x: f64| (x.abs().log2().floor() as i32) + 1;
        out.extend(
            wide.iter()
                .map(|&x| (x / 2f64.powi(exponent(x)), Near::Exact)),
        );
        out.extend(wide.iter().map(|&x| (f64::from(exponent(x)), Near::Exact)));
        out.extend((0..4).map(|i| (wide[i].abs().powf(wide[(i + 1) % 4]), Near::Ulps(16.0))));
    }
    cases.push(case(
        "math",
        "vectors",
        2,
        1,
        vec![input(&x), reals(4, out)],
    ));

    let (a, b): (Vec<f32>, Vec<f32>) = (0..12)
        .map(|i| (i as f32 * 0.5 - 2.0, (i * 5 % 7) as f32 - 1.0))
        .unzip();
    let mut out = Vec::new();
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        let (a, b): (Vec<f64>, Vec<f64>) =
            (0..4).map(|i| (f64::from(a[i]), f64::from(b[i]))).unzip();
        let dot: f64 = (0..4).map(|i| a[i] * b[i]).sum();
        let length = (0..4).map(|i| a[i] * a[i]).sum::<f64>().sqrt();
        let distance = (0..4).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
        let cross = [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ];
        let three = (0..3).map(|i| a[i] * a[i]).sum::<f64>().sqrt();
        out.extend(
            [dot, length, distance]
                .into_iter()
                .chain(cross)
                .chain((0..3).map(|i| a[i] / three)),
        );
    }
    let out = out.into_iter().map(|v| (v, Near::Absolute(2e-5))).collect();
    cases.push(case(
        "math",
        "geometry",
        1,
        3,
        vec![input(&a), input(&b), reals(4, out)],
    ));

    let a = [10.0f32, -10.0, 7.5, 100.0, 0.5, 1000.5];
    let b = [3.0f32, 3.0, -2.0, 7.0, 4.0, 0.75];
    let (mut out, mut q) = (Vec::new(), Vec::new());
    // ln |gamma|, by the same reckoning as math.txt.
    let gamma = [
        12.801_827_480_081_47,
        f64::INFINITY,
        7.534_364_236_758_733,
        359.134_205_369_575_4,
        0.572_364_942_924_700_1,
        5905.22,
    ];
    for i in 0..6 {
        let n = f64::from(a[i] / b[i]).round_ties_even();
        out.push((f64::from(a[i]) - n * f64::from(b[i]), Near::Value));
        out.push((
            gamma[i],
            if i == 1 {
                Near::Free
            } else {
                Near::Absolute(1e-3 * gamma[i].max(1.0))
            },
        ));
        // Seven bits of the quotient with its sign.
        q.push((n.abs() as i32 & 127) * n.signum() as i32);
        q.push(if i == 1 { 0 } else { 1 });
    }
    cases.push(case(
        "math",
        "quotients",
        2,
        3,
        vec![input(&a), input(&b), reals(4, out), output(&q)],
    ));
    cases
}
