//! Whole programs: work-item ids, globals, printf, linking, specialisation, imports.

use super::{Arg, Case, Printed, also, bytes, case, changed, input, output, step, value};

/// The ids that `places` writes for every work-item.
fn places(groups: [u32; 3], size: [u32; 3], offset: [u64; 3]) -> Case {
    let g = groups.map(u64::from);
    let s = size.map(u64::from);
    let total: Vec<u64> = (0..3).map(|d| g[d] * s[d]).collect();
    let dimensions = (0..3).rfind(|&d| total[d] > 1).map_or(1, |d| d as u64 + 1);
    let mut out = Vec::new();
    for z in 0..total[2] {
        for y in 0..total[1] {
            for x in 0..total[0] {
                let at = [x, y, z];
                let id: Vec<u64> = (0..3).map(|d| at[d] + offset[d]).collect();
                let local: Vec<u64> = (0..3).map(|d| at[d] % s[d]).collect();
                let group: Vec<u64> = (0..3).map(|d| at[d] / s[d]).collect();
                for list in [
                    &id,
                    &local,
                    &group,
                    &total,
                    &s.to_vec(),
                    &g.to_vec(),
                    &offset.to_vec(),
                    &s.to_vec(),
                ] {
                    out.extend(list);
                }
                let linear = (z * total[1] + y) * total[0] + x;
                out.extend([linear, (local[2] * s[1] + local[1]) * s[0] + local[0]]);
                out.extend([
                    dimensions,
                    0,
                    1,
                    1,
                    0,
                    id[0] + 10 * local[1] + 100 * group[2],
                ]);
            }
        }
    }
    let mut case = case("builtins", "places", 1, 1, vec![output(&out)]);
    case.steps[0].groups = groups;
    case.steps[0].size = size;
    case.steps[0].offset = offset;
    case
}

fn globals(module: &'static str) -> Vec<Case> {
    let numbers = [2.0f32, 3.0, 5.0, 7.0, 11.0];
    let table = [
        [1.0f32, 2.0, 3.0, 4.0],
        [-1.0, -2.0, -3.0, -4.0],
        [9.0, 8.0, 7.0, 6.0],
    ];
    let entries = [(1.0f32, 7.0f32, [0.5f32, -2.0]), (-4.0, 25.0, [1e30, 3.0])];
    let rows = [[1.0f32, 2.0, 3.0, 4.0], [-1.0, 0.25, 8.0, 1e-3]];
    let a: Vec<i32> = (0..24).collect();
    let mut out: Vec<f32> = Vec::new();
    for k in 0..24usize {
        let e = entries[k & 1];
        out.extend([
            numbers[k % 5],
            table[k % 3][k % 4],
            e.0,
            e.1,
            e.2[k >> 1 & 1],
            rows[k & 1][2] + rows[(k + 1) & 1][k & 3],
        ]);
    }
    let read = case(module, "read", 3, 8, vec![input(&a), output(&out)]);
    let mut count = case(
        module,
        "count",
        2,
        8,
        vec![Arg::Out(vec![0; 4], super::Expect::Any)],
    );
    let look = |times: i64| {
        let mut v = vec![
            5 + 16 * times,
            5 + 16 * times,
            1 + 10 * times,
            0x1234_5678_9abc_def0,
        ];
        v.extend([4 * times; 8]);
        v.push(1);
        step("look", 1, 1, vec![output(&v)])
    };
    let again = || {
        step(
            "count",
            2,
            8,
            vec![Arg::Out(vec![0; 4], super::Expect::Any)],
        )
    };
    let first = count.steps.remove(0);
    count.steps = vec![look(0), first, look(1), again(), again(), look(3)];
    vec![read, count]
}

fn printf() -> Vec<Case> {
    let args = |mode: i32| {
        let longs = input(&[-1i64 << 40, 0xfeed_face]);
        vec![
            value(mode),
            value(-5i32),
            value(1.5f32),
            longs,
            changed(&[-7i32], &[if mode == 0 { 0 } else { -7 }]),
        ]
    };
    let text = "plain\n-5 4294967291 fffffffb|   42|42   |-0042\n-1099511627776 feedface -5 -5\n\
        1.500000 1.500000e+00 1.5 1.50\na string and z%\n1,-2,3,4|0.500000,-1.000000|ff,10,1\n";
    let mut one = case("printf", "report", 2, 4, args(0));
    one.printed = Some(Printed::Text(text.into()));
    let mut all = case("printf", "report", 3, 4, args(1));
    let lines = (0..12).map(|i| {
        format!(
            "item {i} has {}",
            if i & 1 == 0 { -1i64 << 40 } else { 0xfeed_face }
        )
    });
    all.printed = Some(Printed::Lines(lines.collect()));
    vec![one, all]
}

/// Kernels that would fault in work-items beyond the launch.
fn faults() -> Vec<Case> {
    let before: Vec<i32> = (0..32).map(|i| i * 3 - 7).collect();
    let none = || value(u64::MAX);
    let more: Vec<i32> = before.iter().map(|v| v + 1).collect();
    let looped: Vec<i32> = (0..32)
        .map(|i| {
            let turns = 4 + i as i32 % 4;
            before[i] * turns + turns * (turns - 1) / 2
        })
        .collect();
    let turned: Vec<i32> = (0..32).map(|i| before[i ^ 15] + 1).collect();
    let mut all = Vec::new();
    for kernel in ["traps", "asserts", "asserts_in_c", "spins"] {
        let args = vec![changed(&before, &more), none()];
        all.push(case("faults", kernel, 2, 16, args));
    }
    let args = vec![changed(&before, &more), none(), value(0u64)];
    all.push(case("faults", "pokes", 2, 16, args));
    let args = vec![changed(&before, &looped), none()];
    all.push(case("faults", "traps_in_loop", 2, 16, args));
    let args = vec![changed(&before, &turned), none(), Arg::Local(64)];
    all.push(case("faults", "traps_at_barrier", 2, 16, args));
    all
}

fn linked(first: &'static str) -> Case {
    let f: Vec<f32> = (0..8).map(|i| i as f32 * 0.5).collect();
    let after: Vec<f32> = (0..8).map(|i| f[i] * i as f32 + 0.5).collect();
    let x: Vec<i32> = (0..8).map(|i| i * 10 - 20).collect();
    let mut g: Vec<i32> = (0..8)
        .map(|i| x[i] * 2 + 1 + [100, 200, 300, 400][i & 3])
        .collect();
    g.extend((0..4).map(|i| 9 + i * 1000));
    let mut case = case(
        first,
        "use",
        2,
        4,
        vec![changed(&f, &after), output(&g), input(&x)],
    );
    case.modules = vec![first, "linking_b"];
    case
}

fn specialised() -> Vec<Case> {
    let spec = |constants: Vec<(u32, Vec<u8>)>, mut out: Vec<u64>, reals: [f64; 2]| {
        // %o1 = s32 * 3, %o2 = %o1 + 1, %o3 = s16, %o4 = st ? %o1 : %o2, the composite's second part is %o2.
        let (s32, s16, st, len) = (out[2], out[1], out[4], out.pop().unwrap_or(0));
        let o1 = (s32 * 3) & 0xffff_ffff;
        out.extend([
            o1,
            o1 + 1,
            s16,
            if st == 1 { o1 } else { o1 + 1 },
            o1 + 1,
            len - 1,
        ]);
        let mut case = case(
            "spec_constants",
            "spec",
            1,
            2,
            vec![output(&out.repeat(2)), output(&reals.repeat(2))],
        );
        case.constants = constants;
        case
    };
    vec![
        spec(vec![], vec![8, 16, 32, 64, 1, 0, 4], [1.5, 2.5]),
        spec(
            vec![
                (1, vec![200]),
                (2, 50000u16.to_le_bytes().into()),
                (3, 7u32.to_le_bytes().into()),
                (4, (1u64 << 60).to_le_bytes().into()),
                (5, (-0.75f32).to_le_bytes().into()),
                (6, 1e100f64.to_le_bytes().into()),
                (7, vec![0]),
                (8, vec![1]),
                (9, 100u32.to_le_bytes().into()),
            ],
            vec![200, 50000, 7, 1 << 60, 0, 1, 100],
            [-0.75, 1e100],
        ),
        spec(
            vec![(3, 1000u32.to_le_bytes().into()), (77, vec![1, 2, 3, 4])],
            vec![8, 16, 1000, 64, 1, 0, 4],
            [1.5, 2.5],
        ),
    ]
}

/// A value read through an address that was a number, differences of such numbers, a part of a program-scope variable.
fn address_numbers() -> Case {
    let out = output(&[22u64, 8, 0, 0, 22]);
    case("address_numbers", "numbers", 1, 1, vec![out])
}

/// The bits of LLVM's floating-point classes that hold for `x`, of which the least normal is `least`.
fn class(x: f64, signalling: bool, least: f64) -> u32 {
    if x.is_nan() {
        return if signalling { 1 } else { 2 };
    }
    let kind = if x.is_infinite() {
        0
    } else if x == 0.0 {
        3
    } else if x.abs() < least {
        2
    } else {
        1
    };
    if x.is_sign_negative() {
        1 << (2 + kind)
    } else {
        1 << (9 - kind)
    }
}

fn imports() -> Case {
    const MASKS: [u32; 12] = [3, 4, 8, 16, 32, 64, 128, 256, 512, 504, 516, 519];
    let holds = |class: u32| {
        MASKS
            .iter()
            .enumerate()
            .fold(0u32, |n, (i, m)| n | u32::from(m & class != 0) << i)
    };
    let a = [0u32, 5, 10, u32::MAX, 0x8000_0000, 7, 0x1234_5678, 1, 2, 3];
    let b = [1u32, 5, 3, 1, 0x8000_0001, 31, 0x9abc_def0, 32, 63, 64];
    let f = [
        0.0f32,
        -0.0,
        1.0,
        -2.5,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-42,
        -1e-42,
        3.0e38,
    ];
    let d = [
        1.0f64,
        -0.0,
        0.0,
        f64::NAN,
        1e-310,
        -1e-310,
        f64::NEG_INFINITY,
        f64::INFINITY,
        -7.0,
        1e300,
    ];
    let mut out = Vec::new();
    for i in 0..10 {
        let by = b[i] & 63;
        let both = u64::from(a[i]) << 32 | u64::from(b[i]);
        out.extend([
            a[i].saturating_sub(b[i]),
            ((both << (by % 32)) >> 32) as u32,
            holds(class(f64::from(f[i]), false, f64::from(f32::MIN_POSITIVE))),
            holds(class(d[i], false, f64::MIN_POSITIVE)),
        ]);
    }
    let real = |v: f64| (v, super::Near::Exact);
    let fs = f
        .iter()
        .map(|&x| real(f64::from(x.mul_add(0.1, x))))
        .collect();
    let ds = d.iter().map(|&x| real(x.mul_add(0.1, x))).collect();
    let (up, down): (Vec<u8>, Vec<u8>) = ((0..20).collect(), (100..120).collect());
    let (mut up_after, mut down_after) = (up.clone(), down.clone());
    up_after.copy_within(0..10, 3);
    down_after.copy_within(5..14, 0);
    case(
        "imports",
        "by_name",
        2,
        5,
        vec![
            input(&a),
            input(&b),
            output(&out),
            Arg::Out(
                bytes(&f),
                super::Expect::Reals {
                    size: 4,
                    values: fs,
                },
            ),
            Arg::Out(
                bytes(&d),
                super::Expect::Reals {
                    size: 8,
                    values: ds,
                },
            ),
            changed(&up, &up_after),
            changed(&down, &down_after),
        ],
    )
}

fn link_once() -> Case {
    let a = [0u32, 1, 2, 3, 100];
    let f = [1.0f32, 1.005, -3.25, 1e10, 0.1];
    let to_bf16 = |x: f32| (x.to_bits() + 0x7fff + (x.to_bits() >> 16 & 1)) >> 16;
    let out: Vec<u32> = (0..5)
        .map(|i| a[i] * 3 + 4 + (a[i] & 3) + 2 * to_bf16(f[i]))
        .collect();
    let args = || vec![input(&a), input(&f), output(&out)];
    let mut case = case("linkonce_a", "kernel_a", 1, 5, args());
    case.modules = vec!["linkonce_a", "linkonce_b"];
    case.steps.push(step("kernel_b", 1, 5, args()));
    case
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        places([2, 3, 2], [4, 2, 3], [0; 3]),
        places([3, 1, 1], [5, 1, 1], [7, 0, 0]),
        places([1, 2, 2], [3, 3, 1], [1 << 31, 5, 1]),
    ];
    cases.extend(globals("globals"));
    cases.extend(also("globals.O0", globals("globals.O0")));
    cases.extend(printf());
    cases.extend(faults());
    cases.push(linked("linking_a"));
    cases.push(linked("linking_a.O0"));
    cases.extend(specialised());
    cases.push(address_numbers());
    cases.push(imports());
    cases.push(link_once());
    cases
}
