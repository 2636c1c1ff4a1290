//! Work-groups and sub-groups: questions, votes, exchanges, reductions and scans.

#![forbid(unsafe_code)]

use sycl::kernel::{Combine, GroupNumber, for_each};
use sycl::{BitAnd, BitOr, BitXor, DeviceData, Maximum, Minimum, Multiplies, Plus, Result};
use sycl::{group, item, sub_group};

use super::device::{grouped, queue};

/// Values without a pattern, small enough that products of 16 wrap but sums of floats are exact.
fn values<T: DeviceData>(count: usize, from: impl Fn(u32) -> T) -> Vec<T> {
    (0..count as u32).map(|i| from(i * 7919 % 97 + 1)).collect()
}

#[sycl::kernel(sub_group_size = 16)]
fn positions(_input: &[u32], output: &mut [[usize; 8]]) {
    let (team, lanes) = (group(), sub_group());
    output[item::<1>().id()] = [
        team.local_id(),
        team.size(),
        team.group_id(),
        team.group_count(),
        lanes.local_id(),
        lanes.size(),
        lanes.group_id(),
        lanes.group_count(),
    ];
}

#[test]
fn positions_count_in_groups_and_sub_groups() -> Result<()> {
    let got = grouped(positions, &[0], &vec![[0; 8]; 192], 192, Some(64))?;
    for (i, got) in got.iter().enumerate() {
        let want = [i % 64, 64, i / 64, 3, i % 16, 16, i % 64 / 16, 4];
        assert_eq!(*got, want, "work-item {i}");
    }
    let mut host = vec![[0; 8]; 5];
    for_each([5], || positions(&[], &mut host));
    assert_eq!(host[3], [0, 1, 3, 5, 0, 1, 0, 1]);
    Ok(())
}

#[sycl::kernel]
fn plane(output: &mut [[usize; 4]]) {
    let it = item::<2>();
    let at = it.id()[0] * it.range()[1] + it.id()[1];
    let team = group();
    output[at] = [
        team.local_id(),
        team.group_id(),
        team.group_count(),
        team.broadcast(at, 5),
    ];
}

#[test]
fn groups_of_two_dimensions_count_in_one() -> Result<()> {
    let queue = queue();
    let buffer = sycl::Buffer::from_slice(&[[0usize; 4]; 8 * 12], [8 * 12])?;
    queue.submit(|cg| {
        let output = cg.access(&buffer, sycl::ReadWrite)?;
        let range = sycl::NdRange::new([8, 12], [2, 4]);
        cg.parallel_for_nd(plane, range, (&output,))
    })?;
    for (at, got) in buffer.into_vec()?.into_iter().enumerate() {
        let (row, column) = (at / 12, at % 12);
        let group = row / 2 * 3 + column / 4;
        // Position 5 is row 1, column 1 of the group.
        let fifth = (row / 2 * 2 + 1) * 12 + column / 4 * 4 + 1;
        let want = [row % 2 * 4 + column % 4, group, 12, fifth];
        assert_eq!(got, want, "at {row}, {column}");
    }
    Ok(())
}

/// The results of the kernels below, for one team.
fn expected<T: DeviceData, O: Combine<T>>(team: &[T], operation: O) -> Vec<[T; 3]> {
    let combine = |part: &[T]| {
        let neutral = operation.neutral();
        part.iter().fold(neutral, |a, b| operation.combine(a, *b))
    };
    (0..team.len())
        .map(|i| [combine(team), combine(&team[..=i]), combine(&team[..i])])
        .collect()
}

macro_rules! combinations {
    ($name:ident [$($options:tt)*] $team:ident, $count:literal, $($operation:ident)*) => {
        #[sycl::kernel($($options)*)]
        fn $name<T: GroupNumber + DeviceData>(input: &[T], output: &mut [[[T; 3]; $count]])
        where
            $($operation: Combine<T>,)*
        {
            let i = item::<1>().id();
            let (x, team) = (input[i], $team());
            output[i] = [$([
                team.reduce(x, $operation),
                team.inclusive_scan(x, $operation),
                team.exclusive_scan(x, $operation),
            ]),*];
        }
    };
}
combinations!(lanes [sub_group_size = 16] sub_group, 4, Plus Multiplies Minimum Maximum);
combinations!(lane_bits [sub_group_size = 16] sub_group, 3, BitAnd BitOr BitXor);
combinations!(members [work_group_size = [32]] group, 4, Plus Multiplies Minimum Maximum);
combinations!(member_bits [work_group_size = [32]] group, 3, BitAnd BitOr BitXor);

/// Runs the kernels over teams of 16 lanes and of 32 members, and compares with a fold on the host.
macro_rules! compare {
    ($($ty:ident)*, $numbers:ident $bits:ident, $size:literal) => {
        $( compare!(@one $ty, $numbers 4 Plus Multiplies Minimum Maximum, $size); )*
        $( compare!(@bits $ty, $bits, $size); )*
    };
    (@bits f32, $bits:ident, $size:literal) => {};
    (@bits f64, $bits:ident, $size:literal) => {};
    (@bits $ty:ident, $bits:ident, $size:literal) => {
        compare!(@one $ty, $bits 3 BitAnd BitOr BitXor, $size);
    };
    (@one $ty:ident, $kernel:ident $count:literal $($operation:ident)*, $size:literal) => {
        let input = values(64, |i| i as $ty);
        let zero = [[[0 as $ty; 3]; $count]; 64];
        let got = grouped($kernel::kernel::<$ty>(), &input, &zero, 64, Some(32))?;
        let mut at = 0;
        $(
            for (team, got) in input.chunks($size).zip(got.chunks($size)) {
                for (want, got) in expected(team, $operation).into_iter().zip(got) {
                    let name = stringify!($kernel $ty $operation);
                    for (want, got) in want.into_iter().zip(got[at]) {
                        // Products of floating-point numbers are rounded in the device's order.
                        let difference = (got as f64 - want as f64).abs();
                        assert!(got == want || difference <= (want as f64).abs() * 1e-6, "{name}: {got}, not {want}");
                    }
                }
            }
            at += 1;
        )*
        assert_eq!(at, $count);
    };
}

#[test]
fn sub_groups_combine_values() -> Result<()> {
    compare!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64, lanes lane_bits, 16);
    Ok(())
}

#[test]
fn groups_combine_values() -> Result<()> {
    compare!(i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64, members member_bits, 32);
    Ok(())
}

#[sycl::kernel(sub_group_size = 8)]
fn exchanges(input: &[u32], output: &mut [[u32; 8]]) {
    let i = item::<1>().id();
    let (x, lanes) = (input[i], sub_group());
    let own = lanes.local_id();
    output[i] = [
        lanes.broadcast(x, 3),
        lanes.shuffle(x, 7 - own),
        lanes.shuffle_xor(x, 5),
        if own >= 2 { 1 } else { 0 } * lanes.shuffle_up(x, 2),
        if own < 6 { 1 } else { 0 } * lanes.shuffle_down(x, 2),
        lanes.any(x < 8) as u32,
        lanes.all(x > 7) as u32,
        lanes.reduce_add(x) + lanes.reduce_min(x) + lanes.reduce_max(x),
    ];
}

#[test]
fn lanes_exchange_values() -> Result<()> {
    let input = values(64, |i| i);
    let got = grouped(exchanges, &input, &vec![[0; 8]; 64], 64, Some(32))?;
    for (lanes, got) in input.chunks(8).zip(got.chunks(8)) {
        for (own, got) in got.iter().enumerate() {
            let (low, high) = (lanes.iter().min(), lanes.iter().max());
            let want = [
                lanes[3],
                lanes[7 - own],
                lanes[own ^ 5],
                own.checked_sub(2).map_or(0, |from| lanes[from]),
                lanes.get(own + 2).copied().unwrap_or(0),
                lanes.iter().any(|x| *x < 8).into(),
                lanes.iter().all(|x| *x > 7).into(),
                lanes.iter().sum::<u32>() + low.copied().unwrap_or(0) + high.copied().unwrap_or(0),
            ];
            assert_eq!(*got, want);
        }
    }
    assert!(got.iter().any(|got| got[5] == 1) && got.iter().any(|got| got[5] == 0));
    assert!(got.iter().any(|got| got[6] == 1) && got.iter().any(|got| got[6] == 0));
    Ok(())
}

#[sycl::kernel]
fn votes(input: &[u32], output: &mut [[u32; 3]]) {
    let i = item::<1>().id();
    let team = group();
    let first = team.broadcast(input[i], 0);
    team.barrier();
    output[i] = [
        first,
        team.any(input[i] < 8) as u32,
        team.all(input[i] > 7) as u32,
    ];
}

#[test]
fn groups_vote() -> Result<()> {
    let input = values(96, |i| i);
    let got = grouped(votes, &input, &vec![[0; 3]; 96], 96, Some(8))?;
    for (team, got) in input.chunks(8).zip(got.chunks(8)) {
        let any = team.iter().any(|x| *x < 8).into();
        let all = team.iter().all(|x| *x > 7).into();
        assert!(got.iter().all(|got| *got == [team[0], any, all]), "{got:?}");
    }
    assert!(got.iter().any(|got| got[2] == 1) && got.iter().any(|got| got[2] == 0));
    // On the host each work-item is its own work-group here.
    let mut host = vec![[0; 3]; 96];
    for_each([96], || votes(&input, &mut host));
    for (x, got) in input.iter().zip(host) {
        assert_eq!(got, [*x, (*x < 8).into(), (*x > 7).into()]);
    }
    Ok(())
}

/// A required size of work-groups is one that launches are checked against.
#[test]
fn a_launch_of_another_size_is_an_error() {
    let input = values(64, |i| i);
    let got = grouped(
        members::kernel::<u32>(),
        &input,
        &[[[0; 3]; 4]; 64],
        64,
        Some(16),
    );
    assert!(got.is_err(), "{got:?}");
}

/// The version and the extension are declared only where an instruction needs them.
#[test]
fn modules_declare_what_they_use() -> Result<()> {
    let text = |words: &[u32]| {
        use rspirv::binary::Disassemble;
        let module = rspirv::dr::load_words(words).expect("valid words");
        module.disassemble()
    };
    let [plain, shuffled, uniform] = [
        text(sycl::kernel::spirv(&votes)?),
        text(sycl::kernel::spirv(&exchanges)?),
        text(sycl::kernel::spirv(&member_bits::kernel::<u32>())?),
    ];
    assert!(plain.contains("Version: 1.2") && plain.contains("OpCapability Groups"));
    assert!(!plain.contains("GroupNonUniform") && !plain.contains("OpExtension"));
    assert!(shuffled.contains("Version: 1.3"), "{shuffled}");
    assert!(shuffled.contains("OpCapability GroupNonUniformShuffle"));
    assert!(shuffled.contains("SubgroupSize 8"), "{shuffled}");
    assert!(uniform.contains("Version: 1.2"), "{uniform}");
    assert!(uniform.contains("SPV_KHR_uniform_group_instructions"));
    assert!(uniform.contains("LocalSize 32 1 1"), "{uniform}");
    Ok(())
}
