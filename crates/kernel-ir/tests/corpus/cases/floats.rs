//! Floats, doubles and halves: exact functions and classes, against f64 and std.

use super::{
    Arg, Case, Near, To, case, half_bits, half_to_f64, input, output, reals, to_float, to_half,
    value,
};

const SPECIAL: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.5,
    1.0e-3,
    -7.25,
    1.0e5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    0.333,
];

/// A float type: its size, its own rounding, its least normal and largest numbers.
#[derive(Clone, Copy)]
struct Real {
    size: usize,
    tiny: f64,
    normal: f64,
    largest: f64,
}

const FLOAT: Real = Real {
    size: 4,
    tiny: 1.401_298_464_324_817e-45,
    normal: f32::MIN_POSITIVE as f64,
    largest: f32::MAX as f64,
};
const DOUBLE: Real = Real {
    size: 8,
    tiny: 5e-324,
    normal: f64::MIN_POSITIVE,
    largest: f64::MAX,
};

impl Real {
    fn round(self, x: f64) -> f64 {
        if self.size == 4 {
            f64::from(x as f32)
        } else {
            x
        }
    }
    fn values(self) -> Vec<f64> {
        let mut v: Vec<f64> = SPECIAL.iter().map(|&x| self.round(x)).collect();
        let large = self.round(self.largest / 3.0);
        v.extend([
            self.tiny,
            -self.tiny * 5.0,
            self.normal,
            -self.normal,
            self.largest,
            -large,
            8388609.5,
            -8388607.5,
            2.0f64.powi(40) + 65536.0,
        ]);
        v.iter().map(|&x| self.round(x)).collect()
    }
    fn arg(self, values: &[f64]) -> Arg {
        if self.size == 4 {
            input(&values.iter().map(|&v| v as f32).collect::<Vec<f32>>())
        } else {
            input(values)
        }
    }
    fn fma(self, x: f64, y: f64, z: f64) -> f64 {
        if self.size == 4 {
            f64::from((x as f32).mul_add(y as f32, z as f32))
        } else {
            x.mul_add(y, z)
        }
    }
    /// Binary operation of the type's own arithmetic.
    fn op(self, op: char, x: f64, y: f64) -> f64 {
        macro_rules! of {
            ($x:expr, $y:expr) => {
                match op {
                    '+' => $x + $y,
                    '-' => $x - $y,
                    '*' => $x * $y,
                    '/' => $x / $y,
                    _ => $x % $y,
                }
            };
        }
        if self.size == 4 {
            f64::from(of!(x as f32, y as f32))
        } else {
            of!(x, y)
        }
    }
    fn next_after(self, x: f64, y: f64) -> f64 {
        if x.is_nan() || y.is_nan() {
            return f64::NAN;
        }
        if x == y {
            return y;
        }
        match (self.size == 4, y > x) {
            (true, true) => f64::from((x as f32).next_up()),
            (true, false) => f64::from((x as f32).next_down()),
            (false, true) => x.next_up(),
            (false, false) => x.next_down(),
        }
    }
}

/// `x - n*y` with the nearest `n`, the even one of two.
fn remainder(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return f64::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    let (a, d) = (x.abs(), y.abs());
    let rest = a % d;
    let odd = if d <= f64::MAX / 2.0 {
        a % (2.0 * d) >= d
    } else {
        a >= d
    };
    let over = d - rest;
    let rest = if rest > over || (rest == over && odd) {
        rest - d
    } else {
        rest
    };
    if x < 0.0 { -rest } else { rest }
}

/// Fraction and exponent of frexp for finite non-zero numbers.
fn split(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (mut m, mut e) = (x, 0);
    while m.abs() < 0.5 {
        m *= 2.0;
        e -= 1;
    }
    while m.abs() >= 1.0 {
        m /= 2.0;
        e += 1;
    }
    (m, e)
}

fn smaller(x: f64, y: f64) -> f64 {
    if x.is_nan() || y < x { y } else { x }
}
fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y > x { y } else { x }
}

/// The 28 results of `ops_T`.
fn ops(t: Real, x: f64, y: f64, z: f64) -> [(f64, Near); 28] {
    use Near::{Exact, Value};
    let (_, e) = split(x);
    let logb = if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        f64::from(e - 1)
    } else {
        x.abs()
    };
    let whole = x.trunc();
    let part = if x.is_infinite() {
        0f64.copysign(x)
    } else if x.is_nan() {
        x
    } else {
        (x - whole).copysign(x)
    };
    let below_one = if t.size == 4 {
        f64::from(1f32.next_down())
    } else {
        1f64.next_down()
    };
    let fract = if x.is_nan() {
        x
    } else if x.is_infinite() {
        0f64.copysign(x)
    } else {
        t.op('-', x, x.floor()).min(below_one)
    };
    let dim = if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x > y {
        t.op('-', x, y)
    } else {
        0.0
    };
    let (ax, ay) = (x.abs(), y.abs());
    [
        (t.op('+', x, y), Exact),
        (t.op('-', x, y), Exact),
        (t.op('*', x, y), Exact),
        (t.op('/', x, y), Exact),
        (-x, Exact),
        (t.fma(x, y, z), Exact),
        (t.fma(x, y, z), Exact),
        (smaller(x, y), Value),
        (larger(x, y), Value),
        (x.abs(), Exact),
        (x.copysign(y), Exact),
        (x.floor(), Exact),
        (x.ceil(), Exact),
        (whole, Exact),
        (x.round_ties_even(), Exact),
        (x.round(), Exact),
        (
            if t.size == 4 {
                f64::from((x as f32).sqrt())
            } else {
                x.sqrt()
            },
            Exact,
        ),
        (t.op('%', x, y), Exact),
        (remainder(x, y), Value),
        (dim, Value),
        (t.next_after(x, y), Value),
        (logb, Exact),
        (
            if ax > ay {
                x
            } else if ay > ax {
                y
            } else {
                larger(x, y)
            },
            Value,
        ),
        (
            if ax < ay {
                x
            } else if ay < ax {
                y
            } else {
                smaller(x, y)
            },
            Value,
        ),
        (if x < y { x } else { y }, Exact),
        (part, Value),
        (whole, Exact),
        (fract, Value),
    ]
}

fn classes(t: Real, x: f64, y: f64) -> [i32; 4] {
    let normal = x.is_finite() && x.abs() >= t.normal;
    let (nan, unordered) = (x.is_nan(), x.is_nan() || y.is_nan());
    let bits = |list: &[bool]| {
        list.iter()
            .enumerate()
            .fold(0, |n, (i, &b)| n | i32::from(b) << i)
    };
    let (_, e) = split(x);
    [
        bits(&[
            nan,
            x.is_infinite(),
            x.is_finite(),
            normal,
            x.is_sign_negative() && !nan,
            !unordered,
            unordered,
            x == y,
            x != y,
            x > y,
            x >= y,
            x < y,
            x <= y,
            !unordered && x != y,
        ]),
        bits(&[
            x == y,
            x != y,
            x < y,
            x <= y,
            x > y,
            x >= y,
            x != y,
            unordered || x >= y,
            unordered || x > y,
            unordered || x <= y,
            unordered || x < y,
            x == y,
        ]),
        if x.is_finite() && x != 0.0 { e - 1 } else { 0 },
        if x.is_finite() { e } else { 0 },
    ]
}

fn of_type(t: Real, name: &str) -> Vec<Case> {
    let values = t.values();
    let (mut a, mut b, mut c, mut out, mut class, mut after) =
        (vec![], vec![], vec![], vec![], vec![], vec![]);
    for (i, &x) in values.iter().enumerate() {
        for (j, &y) in values.iter().enumerate() {
            let z = values[(i * 5 + j * 3) % values.len()];
            a.push(x);
            b.push(y);
            c.push(z);
            out.extend(ops(t, x, y, z));
            class.extend(classes(t, x, y));
            let mantissa = if x.is_finite() { split(x).0 } else { x };
            after.extend([(mantissa, Near::Exact), (x.floor(), Near::Exact)]);
        }
    }
    out.extend(after);
    let n = a.len() as u32;
    let mut cases = vec![
        case(
            "arith_float",
            &format!("ops_{name}"),
            n,
            1,
            vec![t.arg(&a), t.arg(&b), t.arg(&c), reals(t.size, out)],
        ),
        case(
            "arith_float",
            &format!("classes_{name}"),
            1,
            n,
            vec![t.arg(&a), t.arg(&b), output(&class)],
        ),
    ];
    // Scaling rounds once, below the normal numbers too.
    let (mut x, mut by, mut scaled) = (vec![], vec![], vec![]);
    for v in [
        1.0,
        -1.5,
        t.normal,
        t.normal * 1.25,
        t.tiny * 3.0,
        t.largest,
        f64::INFINITY,
        f64::NAN,
        0.0,
        -0.0,
    ] {
        for n in [
            0,
            1,
            -1,
            5,
            -20,
            127,
            -126,
            -149,
            1000,
            -1000,
            -1074,
            3000,
            -3000,
            i32::MAX,
            i32::MIN,
        ] {
            x.push(v);
            by.push(n);
            let n = n.clamp(-5000, 5000);
            let exact =
                |v: f64, n: i32| (0..n.abs()).fold(v, |v, _| if n > 0 { v * 2.0 } else { v / 2.0 });
            let value = if t.size == 4 {
                // Every float times a power of two down to 2^-1022 is exact in f64.
                to_float(exact(v, n.max(-800)), To::Even)
            } else if n < 0 && v.is_finite() && v != 0.0 {
                let (m, e) = split(v);
                let down = (e + n).max(-1090);
                if down > -1000 {
                    exact(m, down)
                } else {
                    exact(m, -1000) * 2f64.powi((down + 1000).max(-90))
                }
            } else {
                exact(v, n)
            };
            scaled.push((value, Near::Exact));
        }
    }
    let n = x.len() as u32;
    cases.push(case(
        "arith_float",
        &format!("scale_{name}"),
        1,
        n,
        vec![t.arg(&x), input(&by), reals(t.size, scaled)],
    ));
    cases
}

fn halves() -> Vec<Case> {
    let values: Vec<f64> = SPECIAL
        .iter()
        .chain(&[65504.0, 6.0e-8, -6.2e-5, 2049.0, 0.1, 1024.5])
        .map(|&x| to_half(x, To::Even))
        .collect();
    let r = |x: f64| to_half(x, To::Even);
    let (mut a, mut b, mut out, mut class) = (vec![], vec![], vec![], vec![]);
    for &x in &values {
        for &y in &values {
            a.push(half_bits(x));
            b.push(half_bits(y));
            out.extend(
                [
                    x + y,
                    x - y,
                    x * y,
                    x / y,
                    -x,
                    x.abs(),
                    smaller(x, y),
                    larger(x, y),
                    x.floor(),
                    x.sqrt(),
                    x.copysign(y),
                    if x < y { x } else { y },
                    r(x * y) + x,
                ]
                .into_iter()
                .enumerate()
                .map(|(i, v)| {
                    (
                        r(v),
                        if i == 6 || i == 7 {
                            Near::Value
                        } else {
                            Near::Exact
                        },
                    )
                }),
            );
            let bits = [
                x.is_nan(),
                x.is_infinite(),
                x.is_finite(),
                x == y,
                x < y,
                x != y,
            ];
            class.push(
                bits.iter()
                    .enumerate()
                    .fold(0, |n, (i, &v)| n | i32::from(v) << i),
            );
        }
    }
    let n = a.len() as u32;
    let mut cases = vec![
        case(
            "half",
            "ops_half",
            n,
            1,
            vec![input(&a), input(&b), reals(2, out)],
        ),
        case(
            "half",
            "classes_half",
            1,
            n,
            vec![input(&a), input(&b), output(&class)],
        ),
    ];
    let many: Vec<f64> = (0..100)
        .map(|i| to_half(0.1 * f64::from(i) - 3.0, To::Even))
        .collect();
    let sum = many.iter().fold(0.0, |s, &v| r(s + v));
    let bits: Vec<u16> = many.iter().map(|&v| half_bits(v)).collect();
    cases.push(case(
        "half",
        "sum_half",
        1,
        3,
        vec![input(&bits), output(&[half_bits(sum); 3]), value(100i32)],
    ));
    let all: Vec<u16> = (0..64u16)
        .map(|i| i * 1021 + 3)
        .chain([0, 0x8000, 0x7c00, 0xfc00, 0x7bff, 1, 0x3ff, 0x400])
        .collect();
    let wide: Vec<(f64, Near)> = all.iter().map(|&h| (half_to_f64(h), Near::Exact)).collect();
    let n = all.len();
    let mut back = vec![(0.0, Near::Free); 4 * n];
    for (i, &(x, _)) in wide.iter().enumerate() {
        let y = (x as f32 * 1.000_976_6f32 + 1e-6f32) as f64;
        for (k, to) in [To::Even, To::Zero, To::Up, To::Down]
            .into_iter()
            .enumerate()
        {
            back[k * n + i] = (to_half(y, to), Near::Exact);
        }
    }
    cases.push(case(
        "half",
        "storage",
        n as u32 / 4,
        4,
        vec![input(&all), reals(4, wide.clone()), reals(2, back)],
    ));
    let tripled: Vec<(f64, Near)> = wide
        .iter()
        .map(|&(x, near)| (r(f64::from(x as f32 * 3.0)), near))
        .collect();
    cases.push(case(
        "half",
        "storage4",
        1,
        n as u32 / 4,
        vec![input(&all), reals(4, wide), reals(2, tripled)],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = of_type(FLOAT, "float");
    cases.extend(of_type(DOUBLE, "double"));
    let tiny: Vec<f32> = [
        1u32,
        2,
        3,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x8000_0001,
        0x1f80_0000,
        0x2000_0001,
    ]
    .iter()
    .map(|&b| f32::from_bits(b))
    .collect();
    let after: Vec<f32> = tiny.iter().flat_map(|&x| [x * 0.5, x + x, x * x]).collect();
    cases.push(case(
        "arith_float",
        "denormals",
        3,
        3,
        vec![input(&tiny), output(&after)],
    ));
    cases.extend(halves());
    cases
}
