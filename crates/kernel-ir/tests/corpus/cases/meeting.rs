//! Divergent work-items that reconverge at barriers: each group is simulated step by step.

use super::{Arg, Case, Draw, also, case, input, output, value};

/// Runs `f` over groups of `size`.
fn each(a: &[i32], size: usize, f: impl Fn(&[i32]) -> Vec<i32>) -> Vec<i32> {
    a.chunks_exact(size).flat_map(f).collect()
}

fn in_calls(a: &[i32], turns: i32) -> Vec<i32> {
    let n = a.len();
    let pass = |v: &[i32]| -> Vec<i32> { (0..n).map(|l| v[(l + 1) % n]).collect() };
    let (mut v, mut s) = (a.to_vec(), vec![0i32; n]);
    for k in 0..turns {
        v = pass(&v.iter().map(|v| v + k).collect::<Vec<_>>());
        for (s, v) in s.iter_mut().zip(&v) {
            *s = s.wrapping_mul(2).wrapping_add(*v);
        }
        if k == 3 {
            v = pass(&v.iter().map(|v| -v).collect::<Vec<_>>());
        }
    }
    s
}

fn in_switch(m: i32, n: usize) -> Vec<i32> {
    let mut t: Vec<i32> = (0..n as i32).collect();
    let mut r: Vec<i32> = (0..n as i32).map(|l| l * 3).collect();
    if m == 1 {
        r = (0..n).map(|l| r[l] + t[n - 1 - l]).collect();
    }
    if m == 1 || m == 2 {
        t.clone_from(&r);
        r = (0..n).map(|l| t[(l + 2) % n] + 1).collect();
    } else {
        for k in 0..m.clamp(0, 5) as usize {
            r = (0..n).map(|l| r[l] + t[(l + k) % n]).collect();
        }
    }
    r
}

fn nested(a: &[i32], limit: i32) -> Vec<i32> {
    let n = a.len();
    let mut keep: Vec<[i32; 4]> = (0..n as i32).map(|l| [l, 2 * l, 3 * l, 4 * l]).collect();
    let mut s = vec![0; n];
    for i in 0..limit {
        for j in 0..=i {
            let t: Vec<i32> = a.iter().map(|a| (a + i) * (j + 1)).collect();
            if j == 2 {
                break;
            }
            if (i + j) & 1 == 1 {
                continue;
            }
            for l in 0..n {
                let got = t[(l + (i + j) as usize) % n];
                keep[l][(l + j as usize) & 3] += got;
                s[l] ^= got;
            }
        }
    }
    (0..n)
        .map(|l| s[l] + keep[l][0] + keep[l][1] * 3 + keep[l][2] * 5 + keep[l][3] * 7)
        .collect()
}

fn by_vote(a: &[i32]) -> Vec<i32> {
    let turns = a
        .iter()
        .map(|&x| (x + 2).div_euclid(3).max(0))
        .max()
        .unwrap_or(0);
    a.iter()
        .flat_map(|&x| [turns, (1..=x).rev().step_by(3).sum()])
        .collect()
}

fn lane_vote(a: &[i32]) -> Vec<i32> {
    let turns = a
        .iter()
        .map(|&x| (x + 1).div_euclid(2).max(0))
        .max()
        .unwrap_or(0);
    a.iter().map(|&x| turns * 100 + x - 2 * turns).collect()
}

fn lane_switch(a: &[i32]) -> Vec<i32> {
    let of = |kind: i32| a.iter().copied().filter(move |x| x & 3 == kind);
    let r: Vec<i32> = (0..a.len())
        .map(|l| match a[l] & 3 {
            0 => of(0).sum(),
            1 => of(1).max().unwrap_or(0),
            2 => a[..=l].iter().filter(|&x| x & 3 == 2).sum::<i32>() * 10,
            _ => -a[l],
        })
        .collect();
    let sum: i32 = r.iter().map(|r| r & 15).sum();
    r.into_iter().flat_map(|r| [r, sum]).collect()
}

fn lane_loops(a: &[i32]) -> Vec<i32> {
    let mut s = vec![0; a.len()];
    let mut left = vec![false; a.len()];
    for i in 0..7 {
        let here: Vec<usize> = (0..a.len())
            .filter(|&l| !left[l] && i < a[l] & 7 && (a[l] + i) % 3 != 0)
            .collect();
        for (before, &l) in here.iter().enumerate() {
            s[l] += here.len() as i32 * 10 + before as i32 * (i + 1);
            left[l] |= i == 4 && a[l] & 8 != 0;
        }
    }
    let least = s.iter().copied().min().unwrap_or(0);
    s.into_iter().map(|s| s + least).collect()
}

fn lane_return(a: &[i32], before: usize) -> Vec<i32> {
    let here: Vec<i32> = a.iter().take(before).copied().filter(|&x| x >= 0).collect();
    let sum: i32 = here.iter().sum();
    let least = here.iter().copied().filter(|&x| x > 50).min().unwrap_or(0);
    let most = here.iter().copied().filter(|&x| x <= 50).max().unwrap_or(0);
    a.iter()
        .enumerate()
        .map(|(l, &x)| match x {
            _ if l >= before || x < 0 => -1,
            51.. => sum + least,
            _ => sum - most,
        })
        .collect()
}

fn both(a: &[i32]) -> Vec<i32> {
    let n = a.len();
    let mut s = vec![0; n];
    for k in 0..3 {
        let v: Vec<i32> = (0..n).map(|l| a[(l + 5) % n] + k).collect();
        let most = v.iter().copied().max().unwrap_or(0);
        for start in (0..n).step_by(16) {
            let lanes = start..(start + 16).min(n);
            let odd: i32 = v[lanes.clone()].iter().filter(|v| **v & 1 != 0).sum();
            let even = v[lanes.clone()]
                .iter()
                .copied()
                .filter(|v| v & 1 == 0)
                .max()
                .unwrap_or(0);
            for l in lanes {
                s[l] += most + if v[l] & 1 != 0 { odd } else { -even };
            }
        }
    }
    s
}

fn kernels() -> Vec<Case> {
    let module = "meeting";
    let mut draw = Draw::new(55);
    let a = draw.ints(80, -100, 100);
    let local = |n: u32| Arg::Local(4 * n);
    let mut cases = Vec::new();
    for turns in [0, 1, 7] {
        let out = each(&a, 20, |g| in_calls(g, turns));
        cases.push(case(
            module,
            "in_calls",
            4,
            20,
            vec![input(&a), output(&out), local(20), value(turns)],
        ));
    }
    let modes = [0, 1, 2, 3, 9, 6, -4, 1];
    let out: Vec<i32> = modes.iter().flat_map(|&m| in_switch(m, 11)).collect();
    cases.push(case(
        module,
        "in_switch",
        8,
        11,
        vec![input(&modes), output(&out), local(11)],
    ));
    for limit in [0, 1, 6] {
        let out = each(&a, 16, |g| nested(g, limit));
        cases.push(case(
            module,
            "nested",
            5,
            16,
            vec![input(&a), output(&out), local(16), value(limit)],
        ));
    }
    let x = draw.ints(36, -5, 25);
    cases.push(case(
        module,
        "by_vote",
        3,
        12,
        vec![input(&x), output(&each(&x, 12, by_vote))],
    ));

    let f: Vec<f32> = (0..30).map(|i| (i * 7 % 16) as f32).collect();
    let mut out = Vec::new();
    for g in f.chunks_exact(10) {
        let mut t = g.to_vec();
        for _ in 0..5 {
            t = (0..10)
                .map(|l| (t[(l + 9) % 10] + t[(l + 1) % 10]) * 0.5)
                .collect();
        }
        out.extend(t);
    }
    cases.push(case(
        module,
        "ping_pong",
        3,
        10,
        vec![input(&f), output(&out), local(20), value(5i32)],
    ));

    let x = draw.ints(40, -6, 30);
    cases.push(case(
        module,
        "lane_vote",
        1,
        40,
        vec![input(&x), output(&each(&x, 8, lane_vote))],
    ));
    cases.push(case(
        module,
        "lane_switch",
        1,
        40,
        vec![input(&x), output(&each(&x, 8, lane_switch))],
    ));
    let x = draw.ints(40, 0, 64);
    cases.push(case(
        module,
        "lane_loops",
        1,
        40,
        vec![input(&x), output(&each(&x, 8, lane_loops))],
    ));
    let x = draw.ints(40, -20, 100);
    let out: Vec<i32> = (0..5)
        .flat_map(|g| lane_return(&x[g * 8..g * 8 + 8], 35usize.saturating_sub(g * 8).min(8)))
        .collect();
    cases.push(case(
        module,
        "lane_return",
        1,
        40,
        vec![input(&x), output(&out), value(35i32)],
    ));
    cases.push(case(
        module,
        "both",
        2,
        40,
        vec![input(&a), output(&each(&a, 40, both)), local(40)],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels();
    cases.extend(also("meeting.O0", kernels()));
    cases
}
