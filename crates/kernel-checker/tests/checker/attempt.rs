//! Launches that several threads attempt.

use kernel_checker::{Addresses, Lanes, Position, Run, Scratch, Start};
use kernel_ir::abi::check::{What, who};
use kernel_ir::{AddressSpace, CheckOp, Order, Scope, Touch};

use super::script::{self, DEVICE, LOCAL, SIZE, USUAL, lock};

fn access(touch: Touch) -> u64 {
    What {
        op: CheckOp::Access(touch, 4),
        space: AddressSpace::Global,
    }
    .encode()
}

/// Each of `threads` threads records the accesses of its groups with `record(run, thread)`. Whether the attempt has failed.
fn fails(threads: u64, record: impl Fn(&Run<'_>, u64) + Sync) -> (bool, script::World) {
    let (world, checker) = script::checker(USUAL);
    let launch = script::launch(&checker, &script::kernel(USUAL));
    launch.attempt();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (checker, launch, record) = (&checker, &launch, &record);
            let world = world.clone();
            scope.spawn(move || {
                let run = Run::new(checker, launch, (LOCAL, SIZE), Scratch::default());
                let run = run.of_attempt(&world);
                record(&run, thread);
                run.end();
            });
        }
    });
    if launch.has_failed() {
        let again = checker.undo(&launch, &world);
        assert_eq!(again.number, launch.number);
        checker.end(&again);
    } else {
        checker.end(&launch);
    }
    assert_eq!(world.told(), [""; 0], "attempts tell nothing");
    (launch.has_failed(), world)
}

/// Rows of eight work-items; group `n` writes the n-th.
fn write_row(run: &Run<'_>, group: u64, at: u64) {
    let lanes = Lanes {
        active: 0xff,
        addresses: Addresses::Row { first: at, step: 4 },
        values: None,
    };
    run.lanes(who(group, 0), 1 << 32, access(Touch::Write), &lanes);
}

#[test]
fn threads_that_write_neighbouring_places_do_not_race() {
    // All groups of both threads in the same chunks of the history, and each thread in chunks of its own.
    for place in [
        |thread: u64, n: u64| 2 * n + thread,
        |thread: u64, n: u64| 2000 * thread + n,
    ] {
        let (failed, _) = fails(2, |run, thread| {
            for n in 0..2000 {
                let group = place(thread, n);
                write_row(run, group, DEVICE + 32 * group);
            }
        });
        assert!(!failed);
    }
}

#[test]
fn a_race_of_threads_is_found_whatever_the_schedule() {
    for conflict in 0..50 {
        let (failed, _) = fails(4, |run, thread| {
            for n in 0..200 {
                let group = 200 * thread + n;
                write_row(run, group, DEVICE + 32 * group);
            }
            if thread % 2 == 1 {
                // A row of the first thread.
                write_row(run, 1000 + thread, DEVICE + 32 * conflict);
            }
        });
        assert!(failed, "row {conflict}");
    }
}

#[test]
fn the_order_of_groups_is_not_observed() {
    let relaxed = Touch::Atomic {
        writes: true,
        commutes: false,
        scope: Scope::Device,
        order: Order::Relaxed,
    };
    let fence = What {
        op: CheckOp::Fence(Scope::Device, Order::AcquireRelease),
        space: AddressSpace::Private,
    };
    for what in [access(relaxed), fence.encode()] {
        let (failed, _) = fails(1, |run, _| {
            run.one(who(0, 0), 1 << 32, what, DEVICE, 0);
        });
        assert!(failed);
    }
}

#[test]
fn what_an_attempt_has_written_is_undone_byte_by_byte() {
    let (world, checker) = script::checker(USUAL);
    let launch = script::launch(&checker, &script::kernel(USUAL));
    lock(&world.memory).extend((DEVICE..DEVICE + 64).zip(1..));
    launch.attempt();
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let run = run.of_attempt(&world);
    for (item, offset) in [(0, 4), (1, 8), (2, 60)] {
        let address = DEVICE + offset;
        run.one(who(0, item), 1 << 32, access(Touch::Write), address, 0);
        lock(&world.memory).extend((address..address + 4).zip([0xff; 4]));
    }
    // The host writes a byte of the same line meanwhile.
    lock(&world.memory).insert(DEVICE + 20, 0xee);
    assert!(run.fails_attempt());
    drop(run);
    let again = checker.undo(&launch, &world);
    assert!(!again.is_attempt() && !again.has_failed());
    for (at, old) in (DEVICE..DEVICE + 64).zip(1..) {
        let expected = if at == DEVICE + 20 { 0xee } else { old };
        assert_eq!(lock(&world.memory).get(&at), Some(&expected), "{at:#x}");
    }
}

/// Accesses of the attempt stay in the histories.
#[test]
fn a_launch_that_was_undone_does_not_race_with_its_attempt() {
    let (world, checker) = script::checker(USUAL);
    let position = Position { lane: 1, number: 1 };
    checker.pushed(position);
    let start = Start {
        drained: true,
        delays_later: false,
        waits: &[],
    };
    checker.started(position, 1, start);
    let kernel = script::kernel(USUAL);
    let launch = checker.begin(&kernel, [8, 1, 1], [8, 1, 1], [0; 3], (position, 0));
    launch.attempt();
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let run = run.of_attempt(&world);
    write_row(&run, 0, DEVICE);
    write_row(&run, 1, DEVICE);
    assert!(run.has_failed());
    drop(run);
    let again = checker.undo(&launch, &world);
    let run = Run::new(&checker, &again, (LOCAL, SIZE), Scratch::default());
    write_row(&run, 0, DEVICE);
    assert_eq!(world.told(), [""; 0]);
    write_row(&run, 1, DEVICE);
    assert_eq!(world.told(), ["RaceOfGroups 1/1"]);
}
