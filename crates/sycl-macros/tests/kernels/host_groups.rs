//! Work-groups on the host compute what the device computes: barriers, local memory, groups and sub-groups, atomics.

#![forbid(unsafe_code)]

use sycl::kernel::for_each_group;
use sycl::{NdRange, Plus, Result, atomic, barrier, group, item, local, sub_group};

use super::device::grouped;

/// Sums of the work-groups' elements, by halving; each work-item also counts in a common place.
#[sycl::kernel]
fn sums(input: &[i32], output: &mut [i32]) {
    let it = item::<1>();
    let (i, lane, size) = (it.id(), it.local_id(), it.local_range());
    let mut tile = local::<[i32; 64]>();
    tile[lane] = input[i];
    atomic::add(&mut output[256], 1);
    barrier();
    let mut half = size / 2;
    while half > 0 {
        if lane < half {
            tile[lane] += tile[lane + half];
        }
        sycl::barrier();
        half /= 2;
    }
    if lane == 0 {
        output[it.group_id()] = tile[0];
    }
}

/// Each work-item reads what its neighbour wrote, through the buffer itself; then votes, scans and shuffles.
#[sycl::kernel(sub_group_size = 8)]
fn neighbours(input: &[u32], output: &mut [[u32; 4]]) {
    let i = item::<1>().id();
    let (team, lanes) = (group(), sub_group());
    let (own, size) = (team.local_id(), team.size());
    output[i][0] = input[i] * 3;
    team.barrier();
    let next = i - own + (own + 1) % size;
    let beside = output[next][0];
    team.barrier();
    output[i][0] = beside;
    output[i][1] = team.exclusive_scan(input[i], Plus);
    output[i][2] = lanes.shuffle_xor(input[i], 1) + lanes.group_id() as u32;
    let old = atomic::add(&mut output[0][3], input[i]);
    if team.any(input[i] > 90) && lanes.all(old < 1_000_000) {
        atomic::add(&mut output[1][3], 1);
    }
}

#[test]
fn groups_on_the_host_agree_with_the_device() -> Result<()> {
    let input: Vec<i32> = (0..256).map(|i| i * i % 1000).collect();
    for size in [1, 2, 16, 64] {
        let start = vec![0; 257];
        let mut host = start.clone();
        for_each_group(NdRange::new([256], [size]), sums, (&input, &mut host))?;
        let device = grouped(sums, &input, &start, 256, Some(size))?;
        assert_eq!(host, device);
        assert_eq!(host[256], 256);
        assert_eq!(host.iter().sum::<i32>(), input.iter().sum::<i32>() + 256);
    }
    let input: Vec<u32> = (0..96).map(|i| i * 7919 % 97).collect();
    let start = vec![[0; 4]; 96];
    let mut host = start.clone();
    for_each_group(NdRange::new([96], [32]), neighbours, (&input, &mut host))?;
    let device = grouped(neighbours, &input, &start, 96, Some(32))?;
    assert_eq!(host, device);
    assert_eq!(host[0][0], input[1] * 3);
    assert_eq!(host[31][0], input[0] * 3);
    Ok(())
}

/// A group of two dimensions, in a generic kernel.
#[sycl::kernel(work_group_size = [2, 4])]
fn transpose<T: sycl::kernel::KernelType + sycl::DeviceData>(input: &[T], output: &mut [T]) {
    let it = item::<2>();
    let (at, own) = (it.id(), it.local_id());
    let (y, x) = (own[0], own[1]);
    let mut tile = local::<[[T; 4]; 2]>();
    tile[y][x] = input[at[0] * 8 + at[1]];
    barrier();
    let turned = tile[x % 2][y * 2 + x / 2];
    output[at[0] * 8 + at[1]] = turned;
}

#[test]
fn groups_of_two_dimensions_are_of_the_required_size() -> Result<()> {
    let input: Vec<u16> = (0..32).collect();
    let mut output = vec![0; 32];
    let kernel = transpose::kernel::<u16>();
    for_each_group(NdRange::new([4, 8], [2, 4]), kernel, (&input, &mut output))?;
    assert_eq!(output[..4], [0, 8, 1, 9]);
    assert_eq!(output[8..12], [2, 10, 3, 11]);
    let wrong = for_each_group(NdRange::new([4, 8], [4, 2]), kernel, (&input, &mut output));
    let text = wrong.expect_err("another size").to_string();
    assert!(text.contains("work-groups of another size"), "{text}");
    let wrong = for_each_group(NdRange::new([4, 8], [3, 4]), kernel, (&input, &mut output));
    assert!(wrong.is_err());
    Ok(())
}

#[sycl::device]
fn wait() {
    barrier();
}

#[sycl::kernel]
fn mistaken(which: u32, output: &mut [u32]) {
    let i = item::<1>().id();
    match which {
        0 => {
            if i == 0 {
                return;
            }
            barrier();
        }
        1 => wait(),
        2 => assert!(output[i] == 0, "the third fails"),
        _ => {
            if i == 0 {
                barrier();
            } else {
                let _ = group().any(i > 5);
            }
        }
    }
    barrier();
    output[i] = 1;
}

#[test]
fn mistakes_are_told() {
    let cases = [
        "that others do not reach",
        "a barrier or an operation of a group in a device function",
        "the third fails",
        "different operations together",
    ];
    for (which, wanted) in (0..).zip(cases) {
        let run = || {
            let mut output = [0, 0, 1, 0];
            let range = NdRange::new([4], [4]);
            for_each_group(range, mistaken, (which, &mut output))
        };
        let payload = std::panic::catch_unwind(run).expect_err("a panic");
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_default();
        assert!(text.contains(wanted), "{which}: {text}");
    }
}
