//! Barriers, local memory, work-group operations, asynchronous copies.

use super::{Arg, Case, Draw, Le, also, case, changed, input, output, value};

/// The ten results of `ops_T` for one group; `least` and `most` are the identities of max and min.
fn results<T: Copy + PartialOrd>(
    x: &[T],
    zero: T,
    least: T,
    most: T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let (min, max) = (
        |a: T, b: T| if b < a { b } else { a },
        |a: T, b: T| if b > a { b } else { a },
    );
    let mut out = Vec::new();
    for i in 0..x.len() {
        let (before, with) = (&x[..i], &x[..=i]);
        let sum = |v: &[T]| v.iter().fold(zero, |a, &b| add(a, b));
        let low = |v: &[T]| v.iter().fold(most, |a, &b| min(a, b));
        let high = |v: &[T]| v.iter().fold(least, |a, &b| max(a, b));
        out.extend([
            sum(x),
            low(x),
            high(x),
            sum(with),
            sum(before),
            low(with),
            high(with),
            low(before),
            high(before),
            x[x.len() / 2],
        ]);
    }
    out
}

fn of_type<T: Le + PartialOrd>(
    name: &str,
    x: Vec<T>,
    zero: T,
    least: T,
    most: T,
    add: fn(T, T) -> T,
) -> Vec<Case> {
    // Group sizes that sub-groups do not divide as well.
    [(3, 24), (8, 9), (1, 72), (72, 1), (4, 18)]
        .into_iter()
        .map(|(groups, size)| {
            let out: Vec<T> = x
                .chunks_exact(size)
                .flat_map(|x| results(x, zero, least, most, add))
                .collect();
            case(
                "group_ops",
                &format!("ops_{name}"),
                groups,
                size as u32,
                vec![input(&x), output(&out)],
            )
        })
        .collect()
}

fn barriers(module: &'static str) -> Vec<Case> {
    let mut draw = Draw::new(21);
    let mut cases = Vec::new();
    let a = draw.ints(96, -500, 500);
    let out: Vec<i32> = a
        .chunks_exact(24)
        .flat_map(|g| g.iter().rev().copied().collect::<Vec<_>>())
        .collect();
    cases.push(case(
        module,
        "reverse",
        4,
        24,
        vec![input(&a), output(&out)],
    ));

    let floats: Vec<f32> = (0..128).map(|i| (i * 7 % 19) as f32 * 0.5).collect();
    let out: Vec<f32> = floats.chunks_exact(32).map(|g| g.iter().sum()).collect();
    cases.push(case(
        module,
        "tree_sum",
        4,
        32,
        vec![input(&floats), output(&out), Arg::Local(128)],
    ));

    let mut out = Vec::new();
    for g in a.chunks_exact(12) {
        let mut sum = 0;
        for &x in g {
            sum += x;
            out.extend([sum, x]);
        }
    }
    cases.push(case(
        module,
        "scan",
        8,
        12,
        vec![input(&a), output(&out), Arg::Local(48), Arg::Local(48)],
    ));

    let n = 8usize;
    let ma: Vec<f32> = (0..64).map(|i| (i * 5 % 11) as f32 - 4.0).collect();
    let mb: Vec<f32> = (0..64).map(|i| (i * 3 % 13) as f32 * 0.5).collect();
    let mc: Vec<f32> = (0..64)
        .map(|i| (0..n).map(|k| ma[i / n * n + k] * mb[k * n + i % n]).sum())
        .collect();
    let mut tiles = case(
        module,
        "tiles",
        2,
        4,
        vec![input(&ma), input(&mb), output(&mc), value(8i32)],
    );
    tiles.steps[0].groups = [2, 2, 1];
    tiles.steps[0].size = [4, 4, 1];
    cases.push(tiles);

    let modes = [0, 1, 2, 5, 1, 0];
    let mut out = Vec::new();
    for &mode in &modes {
        let mut r: Vec<i32> = (0..20).collect();
        if mode == 1 {
            r = (0..20).map(|l| l + (l + 1) % 20 * 2).collect();
        } else {
            for k in 0..mode {
                r = (0..20).map(|l| r[(l + k) as usize % 20] + 1).collect();
            }
        }
        out.extend(r);
    }
    cases.push(case(
        module,
        "uniform_branch",
        6,
        20,
        vec![input(&modes), output(&out)],
    ));

    let n = 50usize;
    let mut out = Vec::new();
    for i in 0..n {
        let (l, base) = (i as i32 % 32, i / 32 * 32);
        let mut p = [l, l + 1, l + 2];
        let next = base + (l as usize + 1) % 32;
        p[l as usize % 3] += if next < n { a[next] } else { 0 };
        out.push(p[0] + p[1] * 10 + p[2] * 100);
    }
    let before = vec![-1; 64];
    let after = [out, vec![-1; 14]].concat();
    cases.push(case(
        module,
        "early_out",
        2,
        32,
        vec![input(&a), changed(&before, &after), value(50i32)],
    ));

    let mut required = case(module, "required", 1, 1, vec![output(&[122; 48])]);
    required.steps[0].groups = [1, 3, 1];
    required.steps[0].size = [4, 2, 2];
    cases.push(required);

    let out: Vec<i32> = (0..40).map(|i| (i / 10 * 10 + (i + 1) % 10) * 5).collect();
    let stored: Vec<i32> = (0..40).map(|i| i * 5).collect();
    cases.push(case(
        module,
        "global_fence",
        4,
        10,
        vec![changed(&[0; 40], &stored), output(&out)],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = barriers("barrier_local");
    cases.extend(also("barrier_local.O0", barriers("barrier_local.O0")));
    cases.extend(work_groups());
    cases.extend(also("group_ops.O0", work_groups()));
    cases.push(copies());
    cases
}

fn work_groups() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut draw = Draw::new(31);
    let n = 72;
    let ints = draw.ints(n, -1000, 1000);
    cases.extend(of_type(
        "int",
        ints.clone(),
        0,
        i32::MIN,
        i32::MAX,
        i32::wrapping_add,
    ));
    cases.extend(of_type(
        "uint",
        ints.iter().map(|&v| v as u32).collect(),
        0,
        0,
        u32::MAX,
        u32::wrapping_add,
    ));
    cases.extend(of_type(
        "long",
        ints.iter().map(|&v| i64::from(v) << 34).collect(),
        0,
        i64::MIN,
        i64::MAX,
        i64::wrapping_add,
    ));
    cases.extend(of_type(
        "ulong",
        ints.iter().map(|&v| (v as u64) << 20).collect(),
        0,
        0,
        u64::MAX,
        u64::wrapping_add,
    ));
    // Sums of these are exact in any order.
    let infinity = f32::INFINITY;
    cases.extend(of_type(
        "float",
        ints.iter().map(|&v| v as f32 * 0.25).collect(),
        0.0,
        -infinity,
        infinity,
        |a, b| a + b,
    ));
    let infinity = f64::INFINITY;
    cases.extend(of_type(
        "double",
        ints.iter().map(|&v| f64::from(v) * 0.125).collect(),
        0.0,
        -infinity,
        infinity,
        |a, b| a + b,
    ));

    let a: Vec<i32> = (0..48)
        .map(|i| {
            if i < 12 {
                5
            } else if i < 24 {
                -i
            } else if i == 30 {
                95
            } else {
                i - 35
            }
        })
        .collect();
    let out: Vec<i32> = a
        .chunks_exact(12)
        .flat_map(|g| {
            [
                i32::from(g.iter().all(|&x| x > 0)),
                i32::from(g.iter().any(|&x| x > 90)),
            ]
            .repeat(12)
        })
        .collect();
    cases.push(case(
        "group_ops",
        "votes",
        4,
        12,
        vec![input(&a), output(&out)],
    ));

    let mut three = case("group_ops", "broadcast3", 1, 1, vec![]);
    three.steps[0].groups = [2, 1, 1];
    three.steps[0].size = [4, 3, 1];
    let a: Vec<i32> = (0..24).map(|i| i * i).collect();
    // Linear ids run over the whole range: x over 8, y over 3.
    let out: Vec<i32> = (0..24)
        .flat_map(|i| {
            let group = i % 8 / 4;
            [a[group * 4 + 1], a[8 + group * 4 + 2]]
        })
        .collect();
    three.steps[0].args = vec![input(&a), output(&out)];
    cases.push(three);

    let mut out = Vec::new();
    for g in ints.chunks_exact(9) {
        let mut s = 0i32;
        for k in 0..5 {
            let t: i32 = g.iter().enumerate().map(|(l, x)| x + k * l as i32).sum();
            s = s.wrapping_add(t ^ k);
        }
        out.extend([s; 9]);
    }
    cases.push(case(
        "group_ops",
        "in_a_loop",
        8,
        9,
        vec![input(&ints), output(&out), value(5i32)],
    ));

    cases
}

fn copies() -> Case {
    let (n, groups) = (10usize, 3usize);
    let near: Vec<i32> = (0..30).map(|i| i * 3 + 1).collect();
    let far: Vec<i32> = (0..30).map(|i| 100 - i).collect();
    let mut out = vec![0i32; 60];
    for g in 0..groups {
        for l in 0..n {
            let x = near[g * n + n - 1 - l] * 100 + far[g + l * groups];
            out[g * n + l] = x;
            out[n * groups + g + l * groups] = -x;
        }
    }
    let args = vec![
        input(&near),
        input(&far),
        output(&out),
        Arg::Local(40),
        Arg::Local(40),
        value(10i32),
    ];
    case("async_copy", "copies", 3, 10, args)
}
