//! Functions of OpenCL C that clang's SPIR-V back end leaves as imports, or writes as no other translator does.

use super::images::{Holds, Layout};
use super::{
    Arg, Case, Draw, Expect, Picture, PictureKind, Wrap, also, bytes, case, changed, half_bits,
    input, output, step,
};

fn atomics() -> Vec<Case> {
    let many = vec![
        changed(&[3, -9, 0, 4, 2], &[-5, 10, 16, -12, -7]),
        changed(&[50u32, 5, 3, 1], &[0, u32::MAX, 7, 17]),
        changed(&[1i64 << 40, 3, 10], &[-5 << 33, -1, -6]),
        changed(&[0.0f32], &[-2.5]),
        Arg::Local(8),
        Arg::Local(4),
        output(&[-5.0f32, 8.0, 0.5, 3.0, 8.0, 2.5]),
    ];
    let one = vec![
        changed(&[3, 9], &[7, 40]),
        changed(&[1.5f32], &[7.5]),
        changed(&[6i64], &[9]),
        Arg::Local(4),
        Arg::Local(4),
        output(&[
            3.0f32, 1.5, 6.0, 20.0, 21.0, 1.25, 9.0, 4.0, 22.0, 2.5, 40.0, 41.0,
        ]),
    ];
    let generic = vec![
        changed(&[60, 3, 7, 1000], &[5, 15, -1, 2]),
        changed(&[1.5f32], &[2.5]),
        output(&[6u32, 1, 2]),
        Arg::Local(4),
    ];
    vec![
        case("opencl_c", "legacy", 2, 8, many),
        case("opencl_c", "old_values", 1, 1, one),
        case("opencl_c", "c11", 1, 16, generic),
    ]
}

fn votes() -> Case {
    let mut draw = Draw::new(81);
    let mut values = vec![
        -1,
        -2,
        -3,
        -4,
        1,
        2,
        3,
        4,
        0,
        0,
        -1,
        1,
        i32::MIN,
        i32::MAX,
        0x80,
        -1,
    ];
    values.extend(draw.ints(48, -4, 1));
    let mut out = Vec::new();
    for v in values.chunks_exact(4) {
        let any = |v: &[i32]| i32::from(v.iter().any(|&x| x < 0));
        let all = |v: &[i32]| i32::from(v.iter().all(|&x| x < 0));
        let chars: Vec<i32> = v.iter().map(|&x| i32::from(x as i8)).collect();
        // The sign of 64 bits shifted by 31 is bit 32: the sign as well.
        let longs: Vec<i32> = v[..2]
            .iter()
            .map(|&x| ((i64::from(x) << 31) >> 32) as i32)
            .collect();
        let above = i32::from(v.iter().all(|&x| x as f32 > -3.0));
        out.extend([
            any(v),
            all(v),
            any(&v[..3]),
            all(&v[2..]),
            any(&chars) * 2 + all(&chars),
            any(&longs) * 2 + all(&longs),
            any(&v[..1]) * 2 + all(&v[1..2]),
            any(v) * 2 + above,
        ]);
    }
    case(
        "opencl_c",
        "votes",
        2,
        8,
        vec![input(&values), output(&out)],
    )
}

fn mixed() -> Case {
    let mut draw = Draw::new(82);
    let mut floats = Vec::new();
    for _ in 0..8 {
        floats.extend(draw.ints(3, -32, 32).iter().map(|&v| v as f32 / 4.0));
        floats.push(draw.within(0, 32) as f32 / 4.0);
    }
    let ints = draw.ints(32, -20, 20);
    let (mut f, mut n) = (Vec::new(), Vec::new());
    for (v, k) in floats.chunks_exact(4).zip(ints.chunks_exact(4)) {
        let (s, first) = (v[3], k[0]);
        let times = |k: i32| (1 << k) as f32;
        f.extend(v.iter().map(|x| x * times(first & 7)));
        f.extend(v.iter().map(|x| x.min(s)));
        f.extend(v.iter().map(|x| x.max(s)));
        f.extend(v.iter().map(|x| x.max(-s).min(s + 1.0)));
        f.extend((0..4).map(|i| v[i] + (v[3 - i] - v[i]) * 0.25));
        f.extend(v.iter().map(|&x| if x < s { 0.0 } else { 1.0 }));
        f.extend(v.iter().map(|x| x.max(s)));
        f.extend(v[..3].iter().map(|x| x * times(first & 3)));
        f.push(0.0);
        n.extend(k.iter().map(|&x| x.min(first)));
        n.extend(k.iter().map(|&x| x.max(first)));
        n.extend(k.iter().map(|&x| x.clamp(-9, 9)));
    }
    let args = vec![input(&floats), input(&ints), output(&f), output(&n)];
    case("opencl_c", "mixed", 2, 4, args)
}

fn half_texels() -> Case {
    let (width, height) = (8u32, 4u32);
    let mut draw = Draw::new(83);
    let texels: Vec<f32> = draw
        .ints(4 * (width * height) as usize, -800, 800)
        .iter()
        .map(|&v| v as f32 / 8.0)
        .collect();
    let halves: Vec<u16> = texels.iter().map(|&v| half_bits(f64::from(v))).collect();
    let picture = Picture {
        kind: PictureKind::Two,
        size: [width, height, 1],
        layout: Layout {
            number: 8,
            channels: [(0, 32), (32, 32), (64, 32), (96, 32)],
        },
        holds: Holds::Float,
        swizzle: [0, 1, 2, 3],
        bytes: bytes(&texels),
    };
    let args = vec![
        Arg::Image(picture, Expect::Bytes(bytes(&texels))),
        Arg::Sampler(Wrap::Edge, false, false),
        output(&halves),
        output(&[0x10b5]),
    ];
    let mut case = case("opencl_c", "half_texels", 1, 1, Vec::new());
    case.steps = vec![step("half_texels", 1, 1, args)];
    for step in &mut case.steps {
        step.groups = [width / 4, height, 1];
        step.size = [4, 1, 1];
    }
    case
}

fn kernels() -> Vec<Case> {
    let mut cases = atomics();
    cases.extend([votes(), mixed(), half_texels()]);
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels();
    cases.extend(also("opencl_c.O0", kernels()));
    cases
}
