//! Vectors: parts, shuffles, elements by index.

use super::{Case, Draw, Near, also, case, input, output, reals};

fn kernels() -> Vec<Case> {
    let mut draw = Draw::new(3);
    let mut cases = Vec::new();
    let v = draw.ints(4 * 6, -1000, 1000);
    let mut out = Vec::new();
    for q in v.chunks_exact(4) {
        let [x, y, z, w] = [q[0], q[1], q[2], q[3]];
        let t = [x * 2, y * 2, z * 2];
        // v.yw = t.zx; then element 9 and 10 are v.y and v.w, over the tail of the vstore3.
        out.extend([
            w,
            z,
            y,
            x,
            x + y,
            z + w,
            t[0],
            t[1],
            t[2],
            t[2],
            t[0],
            (x - t[0]) * t[2],
        ]);
    }
    cases.push(case("vector", "parts", 2, 3, vec![input(&v), output(&out)]));

    let floats: Vec<f32> = (0..8 * 8).map(|i| (i * i % 37) as f32 * 0.5).collect();
    let index: Vec<i32> = vec![0, 7, 3, 12, 5, 1, 6, 2];
    let mut out = Vec::new();
    for (v, &k) in floats.chunks_exact(8).zip(&index) {
        let mut v = v.to_vec();
        let e = v[(k & 7) as usize];
        v[((k + 3) & 7) as usize] = e * 2.0;
        out.extend([e, v.iter().sum()]);
    }
    cases.push(case(
        "vector",
        "by_index",
        1,
        8,
        vec![input(&floats), input(&index), output(&out)],
    ));

    let a: Vec<u32> = (0..24).map(|i| i * 7 + 1).collect();
    let mask: Vec<u32> = (0..24)
        .map(|i| (i * 5 + i / 3) % 16 + (i % 4) * 16)
        .collect();
    let mut out = Vec::new();
    for (a, m) in a.chunks_exact(8).zip(mask.chunks_exact(8)) {
        out.extend(m.iter().map(|&m| a[(m & 7) as usize]));
        out.extend(m.iter().map(|&m| {
            if m & 15 < 8 {
                a[(m & 7) as usize]
            } else {
                a[(m & 7) as usize] * 100
            }
        }));
    }
    cases.push(case(
        "vector",
        "shuffles",
        3,
        1,
        vec![input(&a), input(&mask), output(&out)],
    ));

    let (a, b) = (draw.ints(20, -5, 5), draw.ints(20, -5, 5));
    let (mut out, mut flags) = (Vec::new(), Vec::new());
    for (x, y) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        let less: Vec<i32> = x.iter().zip(y).map(|(x, y)| -i32::from(x < y)).collect();
        out.extend(&less);
        let chosen: Vec<i32> = (0..4)
            .map(|i| if less[i] != 0 { y[i] } else { x[i] })
            .collect();
        out.extend(&chosen);
        out.extend((0..4).map(|i| x[i] & !0x0f0f_0f0f | y[i] & 0x0f0f_0f0f));
        out.extend((0..4).map(|i| if less[i] != 0 { x[i] } else { y[i] }));
        let sum: i32 = (0..4).map(|i| x[i] - y[i]).sum();
        flags.push(less.iter().fold(0, |n, &l| n | l) + sum * 2);
    }
    cases.push(case(
        "vector",
        "lanes",
        1,
        5,
        vec![input(&a), input(&b), output(&out), output(&flags)],
    ));

    let (a, b): (Vec<f32>, Vec<f32>) = (0..16)
        .map(|i| (i as f32 * 0.75 - 5.0, (i * 3 % 7) as f32 - 2.0))
        .unzip();
    let (mut out, mut dots) = (Vec::new(), Vec::new());
    for (x, y) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        out.extend((0..4).map(|i| x[i].mul_add(y[i], x[i])));
        out.extend((0..4).map(|i| x[i].floor().max(y[i]) + 0.0));
        dots.push((
            x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum(),
            Near::Absolute(1e-5),
        ));
    }
    let out = out
        .into_iter()
        .map(|v: f32| (f64::from(v), Near::Value))
        .collect();
    cases.push(case(
        "vector",
        "math4",
        2,
        2,
        vec![input(&a), input(&b), reals(4, out), reals(4, dots)],
    ));

    let bytes: Vec<i8> = (0..40).map(|i| (i * 11 - 100) as i8).collect();
    let (mut out, mut tail) = (Vec::new(), Vec::new());
    for i in 0..4usize {
        let v = &bytes[1 + 3 * i..];
        out.extend([v[2], v[0], v[1]]);
        tail.extend(
            [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15].map(|k: usize| bytes[i + k]),
        );
    }
    out.extend(tail);
    cases.push(case(
        "vector",
        "loads",
        1,
        4,
        vec![input(&bytes), output(&out)],
    ));

    let a = [
        1.0f32,
        f32::NAN,
        -0.0,
        f32::INFINITY,
        5.0,
        4.0,
        3.0,
        6.0,
        f32::NEG_INFINITY,
        0.0,
        1.0,
        f32::NAN,
    ];
    let mut out = Vec::new();
    for v in a.chunks_exact(4) {
        out.extend(v.iter().map(|x| {
            let sign = if !x.is_nan() && x.is_sign_negative() {
                4
            } else {
                0
            };
            if x.is_nan() {
                -1
            } else {
                (if x.is_infinite() { 2 } else { 0 }) | sign
            }
        }));
        out.extend((0..4).map(|i| -i32::from(v[i] > v[(i + 1) % 4])));
    }
    cases.push(case("vector", "masks", 1, 3, vec![input(&a), output(&out)]));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels();
    cases.extend(also("vector.O0", kernels()));
    cases.push(sixteen());
    cases.extend(also("vector16.O0", vec![sixteen()]));
    cases
}

/// Vectors of 16 doubles.
fn sixteen() -> Case {
    let doubles: Vec<f64> = (0..32).map(|i| f64::from(i) * 1.25 - 7.0).collect();
    let (mut out, mut tail) = (Vec::new(), Vec::new());
    for v in doubles.chunks_exact(16) {
        let w: Vec<f64> = (0..16).map(|i| v[15 - i] * 2.0 + v[i]).collect();
        let h: Vec<f64> = (0..8).map(|i| w[8 + i] - w[i]).collect();
        let even = [h[0], h[2], h[4], h[6]];
        tail.extend("xyzwxyzw".bytes().map(|c| {
            even[match c {
                b'x' => 0,
                b'y' => 1,
                b'z' => 2,
                _ => 3,
            }]
        }));
        out.extend(w);
    }
    out.extend(tail);
    case(
        "vector16",
        "sixteen",
        1,
        2,
        vec![input(&doubles), output(&out)],
    )
}
