//! Where what is bounded overflows, races may be missed, and none is invented.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use kernel_checker::{Addresses, Bounds, Dropped, Lanes, Position, Run, Scratch};
use kernel_ir::abi::check::{What, who};
use kernel_ir::{AddressSpace, CheckOp, Touch};

use super::script::{self, DEVICE, LOCAL, SIZE, USUAL, found, lock};

/// Launches whose records differ.
const TAGS: u64 = 1023;

fn access(touch: Touch) -> u64 {
    let op = CheckOp::Access(touch, 4);
    let space = AddressSpace::Global;
    What { op, space }.encode()
}

#[test]
fn many_launches() {
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    for number in 0..3 * TAGS {
        let launch = script::launch(&checker, &kernel);
        assert_eq!(launch.number, number + 1);
        let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
        // Another group and work-item each time.
        let who = who(number % 5, (number % 7) as u32);
        run.one(who, 1 << 32, access(Touch::Write), DEVICE, number);
        run.one(who, 2 << 32, access(Touch::Read), DEVICE + 4, 0);
        run.end();
        checker.end(&launch);
    }
    assert_eq!(world.told(), [""; 0]);
    // Races are found as before.
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    run.one(who(0, 0), 3 << 32, access(Touch::Write), DEVICE, 1);
    run.one(who(1, 0), 4 << 32, access(Touch::Read), DEVICE, 0);
    assert_eq!(world.told(), ["RaceOfGroups 4/3"]);
}

#[test]
fn a_launch_that_outlives_a_thousand_others() {
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let long = script::launch(&checker, &kernel);
    for _ in 1..TAGS {
        let launch = script::launch(&checker, &kernel);
        checker.end(&launch);
    }
    let new = script::launch(&checker, &kernel);
    // The second launch is ordered after the first, whatever runs between.
    let first = Run::new(&checker, &long, (LOCAL, SIZE), Scratch::default());
    first.one(who(0, 0), 1 << 32, access(Touch::Write), DEVICE, 1);
    first.end();
    let second = Run::new(&checker, &new, (LOCAL, SIZE), Scratch::default());
    second.one(who(1, 0), 2 << 32, access(Touch::Read), DEVICE, 0);
    assert_eq!(world.told(), [""; 0]);
}

#[test]
fn many_groups_in_one_local_memory() {
    let mut script = String::new();
    for group in 0..3000 {
        let _ = writeln!(
            script,
            "{group}.0 write l0\n{group}.0-7 arrive\n{group}.1@1 read l0"
        );
    }
    assert_eq!(found(USUAL, &script), [""; 0]);
    let _ = write!(script, "2999.2@1 write l0");
    assert_eq!(found(USUAL, &script), ["RaceOfWorkItems 9001/9000"]);
}

#[test]
fn groups_that_look_alike() {
    // Of a group 16 bits are known.
    for script in [
        "0.0 write d0\n65536.0 read d0",
        "0.0 write d0\n65536.1@1 read d0",
        "0.1@2 write d0\n0.0@3 store d4 device release\n65537.0 load d4 device acquire\n65537.0 read d0",
    ] {
        assert_eq!(found(USUAL, script), [""; 0], "{script}");
    }
    // Which group it was is told where only one fits.
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    run.one(who(70_000, 0), 1 << 32, access(Touch::Write), DEVICE, 1);
    run.one(who(70_001, 0), 2 << 32, access(Touch::Read), DEVICE, 0);
    let mistakes = script::lock(&world.mistakes);
    let other = mistakes[0].other.as_ref().unwrap();
    assert_eq!((mistakes[0].side.group, other.group), (70_001, 70_000));
}

#[test]
fn work_items_of_groups_that_look_alike() {
    // Their cells have the same 16 bits: the race is found, and named after one group.
    let told = found(USUAL, "0.0 write d0\n65536.1 read d0");
    assert_eq!(told, ["RaceOfWorkItems 2/1"]);
}

#[test]
fn what_is_not_kept_is_told() {
    let dropped = |script: &str| {
        let world = script::played(USUAL, script);
        let mut dropped = lock(&world.dropped).clone();
        // The launches of scripts have 2^20 groups.
        dropped.retain(|&what| what != Dropped::Groups);
        dropped
    };
    assert_eq!(dropped("0.0@1023 write l0\n0.0@1023 read d0"), []);
    assert_eq!(
        dropped("0.0@1024 write l0\n1.0@2000 read l0\n1.0@0 read l0"),
        [Dropped::Barriers]
    );
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    for (groups, told) in [([1 << 16, 1, 1], 0), ([1 << 15, 3, 1], 1)] {
        let position = (Position::default(), 0);
        let launch = checker.begin(&kernel, [64, 1, 1], groups, [0; 3], position);
        checker.end(&launch);
        assert_eq!(*lock(&world.dropped), vec![Dropped::Groups; told]);
    }
}

/// 10,000,000 work-items write what each of them wrote before: there is one history for each byte, however many launches
/// and work-items there are.
#[test]
fn many_work_items() {
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let groups = 10_000_000 / 256;
    let position = (Position::default(), 0);
    let launch = checker.begin(&kernel, [256, 1, 1], [groups, 1, 1], [0; 3], position);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    for group in 0..u64::from(groups) {
        for first in (0..256).step_by(64) {
            let lanes = Lanes {
                active: u64::MAX,
                addresses: Addresses::Row {
                    first: DEVICE + u64::from(first) * 4,
                    step: 4,
                },
                values: None,
            };
            run.lanes(who(group, first), 1 << 32, access(Touch::Read), &lanes);
        }
    }
    run.end();
    checker.end(&launch);
    assert_eq!(world.told(), [""; 0]);
    assert_eq!(*lock(&world.dropped), []);
}

/// A kernel waits for memory that the host writes, and the host calls the driver before: the kernel gives the state away.
#[test]
fn the_host_is_served_while_a_kernel_waits() {
    let (_, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let launch = script::launch(&checker, &kernel);
    let (begun, written) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
            let mut turns = 0;
            while !written.load(Relaxed) {
                run.one(who(0, 0), 1 << 32, access(Touch::Read), DEVICE, 0);
                begun.store(true, Relaxed);
                turns += 1;
            }
            assert!(turns > 0);
            run.end();
        });
        scope.spawn(|| {
            while !begun.load(Relaxed) {
                std::thread::yield_now();
            }
            for number in 0..100 {
                checker.allocated(0x7000_0000 + number * 4096, 64, 2 + number, 0);
                checker.freed(0x7000_0000 + number * 4096);
            }
            written.store(true, Relaxed);
        });
    });
}

/// As above, by a kernel of which only bounds are checked: it calls where it makes a mistake, and not again.
#[test]
fn the_host_is_served_after_a_mistake() {
    let (_, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let outside = What {
        op: CheckOp::Bounds(Touch::Write, 4),
        space: AddressSpace::Global,
    };
    run.one(who(0, 0), 1 << 32, outside.encode(), DEVICE + SIZE, DEVICE);
    let start = What {
        op: CheckOp::AllocationStart,
        space: AddressSpace::Global,
    };
    assert_eq!(
        run.one(who(0, 0), 1 << 32, start.encode(), DEVICE + 8, 0),
        DEVICE
    );
    std::thread::scope(|scope| {
        let served = scope.spawn(|| checker.allocated(0x7000_0000, 64, 2, 0));
        served.join().unwrap();
    });
    run.end();
}

/// Checks that nothing is found in a script; `@a` stands for so many barriers, `@b` for one more.
fn is_right_after(barriers: &[u32], script: &str) {
    for count in barriers {
        let script = script
            .replace("@a", &format!("@{count}"))
            .replace("@b", &format!("@{}", count + 1));
        assert_eq!(found(USUAL, &script), [""; 0], "{script}");
    }
}

/// Around the number of barriers that an access counts.
const MANY: [u32; 5] = [0, 1021, 1022, 1023, 5000];

#[test]
fn many_barriers() {
    is_right_after(&MANY, "0.0@a write l0\n0.1@b read l0");
    is_right_after(
        &MANY,
        "0.1@a write d4\n0.0@b store d0 device release\n1.0@a load d0 device acquire\n1.0@a read d4",
    );
}

#[test]
fn an_acquire_after_many_barriers_counts_for_the_group() {
    is_right_after(
        &MANY,
        "0.0@a write d4\n0.0@a store d0 device release\n1.0@a load d0 device acquire\n1.1@b read d4",
    );
}

#[test]
fn a_fence_after_many_barriers_counts_for_the_group() {
    is_right_after(
        &MANY,
        "0.0@a write d4\n0.0@a fence device release\n0.1@b store d0 device relaxed
         1.0@a load d0 device acquire\n1.0@a read d4",
    );
}

#[test]
fn a_release_after_many_barriers_of_the_sub_group() {
    for sub_groups in [0, 61, 62, 63, 200] {
        let script = format!(
            "0.1@0+{sub_groups} write d4\n0.0@0+{} store d0 device release\n1.0 load d0 device acquire\n1.0 read d4",
            sub_groups + 1
        );
        assert_eq!(found(USUAL, &script), [""; 0], "{script}");
    }
}

#[test]
fn many_releases_and_acquires() {
    // A chain over more groups than a clock holds, and more releases of a group than an access counts.
    let mut script = String::new();
    for group in 0..4200 {
        let (data, flag) = (8 * group + 4, 8 * group);
        let _ = writeln!(
            script,
            "{group}.0 load d{} device acquire",
            8 * (group.max(1) - 1)
        );
        let _ = writeln!(script, "{group}.0 read d{}", 8 * (group.max(1) - 1) + 4);
        let _ = writeln!(script, "{group}.0 write d{data}");
        let _ = writeln!(script, "{group}.0 store d{flag} device release");
    }
    for _ in 0..100 {
        script += "4200.0 load d33592 device acquire\n4200.0 read d4\n4200.0 write d50000\n4200.0 store d50004 device release
                   4201.0 load d50004 device acquire\n4201.0 read d50000\n4201.0 store d33592 device release\n";
    }
    assert_eq!(found(USUAL, &script), [""; 0]);
}

#[test]
fn the_last_freed_allocation_is_known_after_many() {
    const FREED: u64 = 10_100;
    let (_, checker) = script::checker(USUAL);
    // New mappings of Linux lie below the old ones.
    let start = |number: u64| 0x7000_0000_0000 - number * 4096;
    for number in 0..FREED {
        checker.allocated(start(number), 64, number + 2, 0);
        checker.freed(start(number));
    }
    let last = start(FREED - 1);
    let expected = Bounds {
        start: last,
        size: 0,
    };
    assert_eq!(checker.bounds(last, 0), expected);
}
