//! Accesses of the host, compared with those of commands.

use std::sync::Arc;

use kernel_checker::{Checker, HostAccess, Launch, Position, Run, Scratch, Start};
use kernel_ir::abi::check::{What, who};
use kernel_ir::{AddressSpace, CheckOp, Order, Scope, Touch};

use super::script::{DEVICE, ITEMS, LOCAL, SIZE, USUAL, checker, kernel, lock};

const LAUNCH: Position = Position { lane: 1, number: 1 };

/// The command's accesses to the first words, a work-item each.
#[derive(Clone, Copy)]
enum Command {
    Writes,
    Reads,
    Stores,
}

/// A launch of one group, which the host has submitted.
fn launched(checker: &Checker) -> Arc<Launch> {
    checker.pushed(LAUNCH);
    let start = Start {
        drained: true,
        delays_later: false,
        waits: &[],
    };
    checker.started(LAUNCH, 1, start);
    checker.begin(&kernel(USUAL), [ITEMS, 1, 1], [1; 3], [0; 3], (LAUNCH, 0))
}

fn call(touch: Touch) -> u64 {
    let what = What {
        op: CheckOp::Access(touch, 4),
        space: AddressSpace::Global,
    };
    what.encode()
}

/// Runs the command, lets the host wait or not, and access a byte. Returns the kinds of access that race with the command's,
/// by whether the command writes.
fn found(command: Command, waits: bool, offset: u64, writes: bool) -> Vec<bool> {
    let (world, checker) = checker(USUAL);
    let launch = launched(&checker);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let touch = match command {
        Command::Writes => Touch::Write,
        Command::Reads => Touch::Read,
        Command::Stores => Touch::Atomic {
            writes: true,
            commutes: false,
            scope: Scope::Device,
            order: Order::Release,
        },
    };
    for item in 0..ITEMS {
        let address = DEVICE + 4 * u64::from(item);
        run.one(who(0, item), 7, call(touch), address, 1);
    }
    run.end();
    checker.end(&launch);
    checker.finished(LAUNCH, 1, None);
    if waits {
        checker.host_waited(LAUNCH);
    }
    let access = HostAccess {
        address: DEVICE + offset,
        writes,
        stack: vec![0x1000],
    };
    // The same place is told once.
    checker.host_accesses(&access, false);
    checker.host_accesses(&access, false);
    let told = lock(&world.host);
    let sides = told.iter().filter_map(|one| one.command.as_ref());
    sides
        .map(|side| {
            assert!(Arc::ptr_eq(&side.launch, &launch));
            assert_eq!(u64::from(side.item), offset / 4);
            side.touch != Some(Touch::Read)
        })
        .collect()
}

#[test]
fn the_host_has_to_wait_for_bytes_that_a_command_accesses() {
    use Command::{Reads, Stores, Writes};
    const BEHIND: u64 = 4 * ITEMS as u64;
    for (command, waits, offset, writes, expected) in [
        (Writes, false, 0, false, &[true][..]),
        (Writes, false, 9, true, &[true]),
        (Writes, false, BEHIND, true, &[]),
        (Writes, true, 0, true, &[]),
        (Reads, false, 4, false, &[]),
        (Reads, false, 4, true, &[false]),
        (Reads, true, 4, true, &[]),
        // The host may wait for a flag.
        (Stores, false, 0, false, &[]),
    ] {
        let found = found(command, waits, offset, writes);
        assert_eq!(
            found, expected,
            "byte {offset}, waits: {waits}, writes: {writes}"
        );
    }
}

#[test]
fn what_the_host_has_acquired_is_ordered() {
    let (world, checker) = checker(USUAL);
    let launch = launched(&checker);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    run.one(who(0, 0), 1, call(Touch::Write), DEVICE + 64, 5);
    let flag = Touch::Atomic {
        writes: true,
        commutes: false,
        scope: Scope::CrossDevice,
        order: Order::Release,
    };
    run.one(who(0, 0), 2, call(flag), DEVICE, 1);
    run.end();
    checker.end(&launch);
    let read = |offset: u64| {
        let access = HostAccess {
            address: DEVICE + offset,
            writes: false,
            stack: vec![offset],
        };
        checker.host_accesses(&access, false);
    };
    read(64);
    assert_eq!(lock(&world.host).len(), 1, "before the flag");
    read(0);
    read(65);
    assert_eq!(lock(&world.host).len(), 1, "behind the flag");
}

#[test]
fn memory_for_devices_is_never_the_hosts() {
    let (world, checker) = checker(USUAL);
    let access = HostAccess {
        address: DEVICE + 3,
        writes: false,
        stack: Vec::new(),
    };
    checker.host_accesses(&access, true);
    let told = lock(&world.host);
    assert_eq!(told.len(), 1);
    assert!(told[0].command.is_none() && told[0].place.offset == 3);
}
