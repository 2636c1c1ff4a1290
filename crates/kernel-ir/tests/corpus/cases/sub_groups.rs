//! Sub-groups of 8, 16 and 32 lanes, with a partial last one and with inactive lanes.

use super::{Case, Draw, Expect, Near, also, case, input, output, reals};

/// Sub-groups of the items of a group of `size`.
fn lanes(size: usize, width: usize) -> Vec<std::ops::Range<usize>> {
    (0..size)
        .step_by(width)
        .map(|s| s..(s + width).min(size))
        .collect()
}

/// For each sub-group of each group: its values, into one list.
fn each<T: Copy, R>(x: &[T], size: usize, width: usize, f: impl Fn(&[T]) -> Vec<R>) -> Vec<R> {
    x.chunks_exact(size)
        .flat_map(|g| {
            lanes(size, width)
                .into_iter()
                .flat_map(|r| f(&g[r]))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn kernels(module: &'static str, width: usize) -> Vec<Case> {
    let mut draw = Draw::new(40 + width as u64);
    let mut cases = Vec::new();
    let name = |k: &str| format!("{k}_{width}");
    // Three groups of a size that the width does not divide, and two of full sub-groups.
    for (groups, size) in [(3u32, 44usize), (2, 64)] {
        let n = groups as usize * size;
        let x = draw.ints(n, -100, 100);
        let mut places = Vec::new();
        let count = size.div_ceil(width) as u32;
        for _ in 0..groups {
            for (id, r) in lanes(size, width).into_iter().enumerate() {
                for l in 0..r.len() {
                    places.extend([
                        l as u32,
                        id as u32,
                        r.len() as u32,
                        width as u32,
                        count,
                        count,
                    ]);
                }
            }
        }
        cases.push(case(
            module,
            &name("places"),
            groups,
            size as u32,
            vec![output(&places)],
        ));

        let out = each(&x, size, width, |g| {
            let mut out = Vec::new();
            for i in 0..g.len() {
                let sum = |v: &[i32]| v.iter().sum::<i32>();
                let max = |v: &[i32]| v.iter().copied().max().unwrap_or(i32::MIN);
                let min = |v: &[i32]| v.iter().copied().min().unwrap_or(i32::MAX);
                out.extend([
                    sum(g),
                    min(g),
                    max(g),
                    sum(&g[..=i]),
                    sum(&g[..i]),
                    max(&g[..=i]),
                    min(&g[..i]),
                ]);
                // A partial sub-group may have no lane 5: nothing is known then.
                out.push(g.get(5).copied().unwrap_or(i32::MIN));
                out.extend([
                    i32::from(g.iter().all(|&x| x > -90)),
                    i32::from(g.iter().any(|&x| x > 90)),
                ]);
            }
            out
        });
        let known = out
            .iter()
            .flat_map(|&v| {
                if v == i32::MIN {
                    [None; 4]
                } else {
                    v.to_le_bytes().map(Some)
                }
            })
            .collect::<Vec<_>>();
        let buffer = super::Arg::Out(vec![0xa5; known.len()], Expect::Known(known));
        cases.push(case(
            module,
            &name("reduce"),
            groups,
            size as u32,
            vec![input(&x), buffer],
        ));

        let out = each(&x, size, width, |g| {
            let mut out = Vec::new();
            let full = |k: usize| if k < g.len() { Some(g[k]) } else { None };
            for l in 0..g.len() {
                let ballot = g
                    .iter()
                    .enumerate()
                    .fold(0u32, |b, (i, &x)| b | u32::from(x > 0) << i);
                out.extend([
                    full((l * 3 + 1) % width),
                    full(l ^ 5),
                    if l >= 2 { full(l - 2) } else { Some(-1) },
                    if l + 3 < width { full(l + 3) } else { Some(-1) },
                    Some(ballot as i32),
                    Some(i32::from(l == 0)),
                ]);
            }
            out
        });
        let known: Vec<Option<u8>> = out
            .iter()
            .flat_map(|v| v.map_or([None; 4], |v| v.to_le_bytes().map(Some)))
            .collect();
        let buffer = super::Arg::Out(vec![0xa5; known.len()], Expect::Known(known));
        cases.push(case(
            module,
            &name("shuffle"),
            groups,
            size as u32,
            vec![input(&x), buffer],
        ));

        let out = each(&x, size, width, |g| {
            let odd = g
                .iter()
                .enumerate()
                .fold(0u32, |b, (i, &x)| b | u32::from(x & 1 == 1) << i);
            let even: i32 = g.iter().filter(|&&x| x & 1 == 0).sum();
            g.iter()
                .flat_map(|&x| {
                    // In iteration k the lanes with a count above k are active.
                    let turns = (0..x & 3)
                        .map(|k| g.iter().filter(|&&y| y & 3 > k).count() as i32)
                        .sum();
                    [if x & 1 == 1 { odd as i32 } else { even }, turns]
                })
                .collect()
        });
        cases.push(case(
            module,
            &name("some"),
            groups,
            size as u32,
            vec![input(&x), output(&out)],
        ));

        let floats: Vec<f32> = x.iter().map(|&v| v as f32 * 0.5).collect();
        let doubles: Vec<f64> = x.iter().map(|&v| f64::from(v) * 0.25).collect();
        let out = each(&floats, size, width, |g| {
            (0..g.len())
                .flat_map(|i| {
                    [
                        g.iter().sum(),
                        g[..=i].iter().copied().fold(f32::NEG_INFINITY, f32::max),
                    ]
                })
                .map(|v: f32| (f64::from(v), Near::Value))
                .collect()
        });
        let wide = each(&doubles, size, width, |g| {
            (0..g.len())
                .flat_map(|i| {
                    [
                        g.iter().copied().fold(f64::INFINITY, f64::min),
                        g[..i].iter().sum(),
                    ]
                })
                .map(|v: f64| (v, Near::Value))
                .collect()
        });
        cases.push(case(
            module,
            &name("float"),
            groups,
            size as u32,
            vec![
                input(&floats),
                input(&doubles),
                reals(4, out),
                reals(8, wide),
            ],
        ));

        let out: Vec<i32> = x
            .chunks_exact(size)
            .flat_map(|g| {
                g.iter()
                    .scan(0, |s, &x| {
                        *s += x;
                        Some(*s)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        cases.push(case(
            module,
            &name("with_barrier"),
            groups,
            size as u32,
            vec![input(&x), output(&out)],
        ));
    }
    // Sub-groups follow the linear order of a group of three dimensions.
    let size = [5u32, 3, 3];
    let items = size.iter().product::<u32>() as usize;
    let total = [10u32, 3, 6];
    let mut places = vec![0u32; 6 * total.iter().product::<u32>() as usize];
    for z in 0..total[2] {
        for y in 0..total[1] {
            for x in 0..total[0] {
                let at = ((z * total[1] + y) * total[0] + x) as usize * 6;
                let linear =
                    ((z % size[2] * size[1] + y % size[1]) * size[0] + x % size[0]) as usize;
                let (id, count) = (linear / width, items.div_ceil(width) as u32);
                let real = (items - id * width).min(width) as u32;
                places[at..at + 6].copy_from_slice(&[
                    (linear % width) as u32,
                    id as u32,
                    real,
                    width as u32,
                    count,
                    count,
                ]);
            }
        }
    }
    let mut solid = case(module, &name("places"), 1, 1, vec![output(&places)]);
    solid.steps[0].groups = [2, 1, 2];
    solid.steps[0].size = size;
    cases.push(solid);
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [8, 16, 32] {
        cases.extend(kernels("sub_group", width));
        cases.extend(also("sub_group.O0", kernels("sub_group.O0", width)));
    }
    // The result does not depend on the size: sums over sub-groups add up, and positions are linear ids.
    let x = [7i32; 32];
    let mut any = case("sub_group", "any_size", 1, 32, vec![input(&x)]);
    let known = (0..32i32)
        .flat_map(|i| [[None; 4], i.to_le_bytes().map(Some)].concat())
        .collect();
    any.steps[0]
        .args
        .push(super::Arg::Out(vec![0xa5; 256], Expect::Known(known)));
    cases.push(any);
    cases
}
