//! Atomics: results that do not depend on the order, and those of one work-item.

use super::{Arg, Case, Draw, Expect, also, bytes, case, changed, input, output};

fn kernels() -> Vec<Case> {
    let mut draw = Draw::new(11);
    let mut cases = Vec::new();
    let x = draw.ints(64, -1_000_000, 1_000_000);
    let fold = |start: i32, f: &dyn Fn(i32, i32) -> i32| x.iter().fold(start, |a, &v| f(a, v));
    let before = [5, 6, -1, 0, 77];
    let after = [
        fold(5, &i32::wrapping_add),
        fold(6, &i32::wrapping_sub),
        fold(-1, &|a, v| a & v),
        fold(0, &|a, v| a | v),
        fold(77, &|a, v| a ^ v),
    ];
    let unsigned = [
        after[0].wrapping_sub(6) as u32,
        fold(0, &|a, v| a ^ v) as u32,
    ];
    cases.push(case(
        "atomics",
        "all32",
        4,
        16,
        vec![
            changed(&before, &after),
            changed(&[u32::MAX, 0], &unsigned),
            input(&x),
        ],
    ));

    let x: Vec<i64> = (0..48).map(|_| draw.next() as i64).collect();
    let fold = |start: i64, f: &dyn Fn(i64, i64) -> i64| x.iter().fold(start, |a, &v| f(a, v));
    let before = [5i64, 6, -1, 0, 77];
    let after = [
        fold(5, &i64::wrapping_add),
        fold(6, &i64::wrapping_sub),
        fold(-1, &|a, v| a & v),
        fold(0, &|a, v| a | v),
        fold(77, &|a, v| a ^ v),
    ];
    let unsigned = [
        after[0].wrapping_sub(6) as u64,
        fold(3, &|a, v| a | v) as u64,
    ];
    cases.push(case(
        "atomics",
        "all64",
        3,
        16,
        vec![
            changed(&before, &after),
            changed(&[u64::MAX, 3], &unsigned),
            input(&x),
        ],
    ));

    cases.push(case(
        "atomics",
        "old_values",
        8,
        16,
        vec![changed(&[0], &[128]), changed(&[0; 128], &[1; 128])],
    ));
    // The values 1 to 32 pass through the slot; what is left in it is not known, so the sum of both is not
    // either: one work-item makes it known.
    let expected = [7.25f32, 7.25];
    let float_slot = Arg::Out(
        bytes(&[7.25f32, 0.0]),
        Expect::Bytes(bytes(&[2.5f32, expected[1]])),
    );
    cases.push(case(
        "atomics",
        "exchange",
        1,
        1,
        vec![changed(&[9], &[1]), changed(&[0], &[9]), float_slot],
    ));
    let many = Arg::Out(bytes(&[9]), Expect::Any);
    let float_slot = Arg::Out(
        bytes(&[7.25f32, 0.0]),
        Expect::Bytes(bytes(&[2.5f32, 7.25])),
    );
    cases.push(case(
        "atomics",
        "exchange",
        4,
        8,
        vec![many, Arg::Out(bytes(&[0]), Expect::Any), float_slot],
    ));

    let floats: Vec<f32> = (0..40).map(|i| i as f32 * 0.25 - 3.0).collect();
    let sum: f32 = floats.iter().sum();
    cases.push(case(
        "atomics",
        "cas_loop",
        5,
        8,
        vec![changed(&[1.5f32], &[sum + 1.5]), input(&floats)],
    ));

    let data: Vec<u8> = (0..4 * 32).map(|_| draw.next() as u8).collect();
    let mut bins = vec![100i32; 8];
    for b in &data {
        bins[usize::from(*b) % 8] += 1;
    }
    cases.push(case(
        "atomics",
        "in_local",
        4,
        8,
        vec![input(&data), changed(&[100i32; 8], &bins), Arg::Local(32)],
    ));

    let n = 24i32;
    let before = [0, 0, 0, 0, -1, 0, 31, 0, 6, 17];
    let after = [
        (1..=n).sum(),
        -(1..=n).sum::<i32>(),
        (1..=n).fold(0, |a, x| a | 1 << (x & 15)),
        (1..=n).fold(0, |a, x| a ^ x),
        (1..=n).fold(-1, |a, x| a & !x),
        -(1..=n).sum::<i32>(),
        31,
        42,
        5,
        18,
    ];
    // Exchanges: old values 31 loaded, 6 exchanged, compare succeeds with 17, fails with 99.
    let out = [31, 6, 1, 17, 0, 18];
    let args = vec![
        changed(&before, &after),
        changed(&[64u32], &[64 | 31]),
        changed(&[1i64], &[1 + (24i64 << 33)]),
        output(&out),
    ];
    cases.push(case("atomics", "c11", 3, 8, args));

    // Odd work-items of 16 add to the global counter, even ones to the group's own.
    let (odd, even): (i32, i32) = (
        (0..16).filter(|i| i % 2 == 1).sum(),
        (0..16).filter(|i| i % 2 == 0).sum(),
    );
    cases.push(case(
        "atomics",
        "on_generic",
        3,
        16,
        vec![
            changed(&[1], &[1 + 3 * odd]),
            Arg::Local(4),
            output(&[even; 3]),
        ],
    ));

    let data: Vec<i32> = (0..32).map(|i| i * 3).collect();
    let total: i32 = data.iter().sum();
    cases.push(case(
        "atomics",
        "publish",
        4,
        8,
        vec![
            changed(&[0; 32], &data),
            changed(&[0], &[32]),
            output(&[total]),
        ],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels();
    cases.extend(also("atomics.O0", kernels()));
    cases
}
