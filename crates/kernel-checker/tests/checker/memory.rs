//! Allocations: bounds, freed memory, null.

use kernel_checker::{Addresses, Bounds, Lanes, MistakeKind, Run, Scratch};
use kernel_ir::abi::check::{What, who};
use kernel_ir::{AddressSpace, CheckOp, Touch};

use super::script::{self, CONSTANT, DEVICE, LOCAL, PROGRAMS, SIZE, STRICT, Setting, USUAL};

const FAR: u64 = 0x4000_0000;

#[test]
fn bounds_of_pointers() {
    let (_, checker) = script::checker(USUAL);
    checker.allocated(FAR, 64, 2, 0);
    // Right behind it.
    checker.allocated(FAR + 64, 32, 3, 0);
    checker.allocated(FAR + 4096, 64, 4, 0);
    checker.freed(FAR + 4096);
    let known = |start, size| Bounds { start, size };
    let none = |start| Bounds { start, size: 0 };
    for (pointer, expected) in [
        (FAR, known(FAR, 64)),
        (FAR + 63, known(FAR, 64)),
        // A pointer to the end belongs to what begins there, else to what ends there.
        (FAR + 64, known(FAR + 64, 32)),
        (FAR + 96, known(FAR + 64, 32)),
        (FAR + 97, Bounds::UNKNOWN),
        (FAR - 1, Bounds::UNKNOWN),
        (FAR + 4096, none(FAR + 4096)),
        (FAR + 4100, none(FAR + 4096)),
        (0, none(0)),
        (4096, none(0)),
        (u64::MAX, Bounds::UNKNOWN),
    ] {
        assert_eq!(checker.bounds(pointer, 0), expected, "{pointer:#x}");
    }
    // Memory that is handed out again.
    checker.allocated(FAR + 4096, 16, 5, 0);
    assert_eq!(checker.bounds(FAR + 4096, 0), known(FAR + 4096, 16));
    // A part of it; what was freed before is forgotten.
    checker.freed(FAR + 4096);
    checker.allocated(FAR + 4100, 4, 6, 0);
    assert_eq!(checker.bounds(FAR + 4096, 0), Bounds::UNKNOWN);
    // What nobody allocated may be freed.
    checker.freed(FAR + 1);
    assert_eq!(checker.bounds(FAR, 0), known(FAR, 64));
}

#[test]
fn accesses_outside() {
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    checker.allocated(FAR, 64, 7, 0);
    checker.freed(FAR);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let bounds = |touch, size| {
        let op = CheckOp::Bounds(touch, size);
        let space = AddressSpace::Global;
        What { op, space }.encode()
    };
    let cases = [
        // Touch, address, and the start of the allocation.
        (Touch::Read, DEVICE + SIZE, DEVICE, MistakeKind::OutOfBounds),
        (Touch::Write, DEVICE - 8, DEVICE, MistakeKind::OutOfBounds),
        (Touch::Read, FAR + 8, FAR, MistakeKind::UseAfterFree),
        (Touch::Read, 16, 0, MistakeKind::NullPointer),
        (
            Touch::Read,
            LOCAL + 64,
            LOCAL,
            MistakeKind::VariableBounds(AddressSpace::Local),
        ),
    ];
    for (word, &(touch, address, start, _)) in (1..).zip(&cases) {
        // Twice: it is counted.
        for item in [3, 4] {
            run.one(who(2, item), word << 32, bounds(touch, 4), address, start);
        }
    }
    let mistakes = script::lock(&world.mistakes);
    assert_eq!(mistakes.len(), cases.len());
    for (mistake, (touch, address, start, kind)) in mistakes.iter().zip(cases) {
        assert_eq!(mistake.kind, kind);
        assert_eq!(mistake.side.touch, Some(touch));
        assert_eq!((mistake.side.group, mistake.side.item), (2, 3));
        let place = mistake.place.unwrap();
        assert_eq!(place.start, start);
        assert_eq!(place.offset, address.wrapping_sub(start).cast_signed());
    }
    let ids: Vec<_> = mistakes.iter().map(|m| m.place.unwrap().id).collect();
    assert_eq!(ids, [Some(1), Some(1), Some(7), None, None]);
    run.release();
    assert_eq!(checker.counts(), [2; 5]);
}

/// Findings of accesses to an address that no allocation holds; each faults if `faults`.
fn unknown(setting: Setting, address: u64, touches: &[Touch], faults: bool) -> Vec<String> {
    let (world, checker) = script::checker(setting);
    let kernel = script::kernel(setting);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    // This address can be read.
    script::lock(&world.memory).insert(FAR, 1);
    for (word, &touch) in (1..).zip(touches) {
        let op = CheckOp::Access(touch, 4);
        let space = AddressSpace::Global;
        let what = What { op, space }.encode();
        run.one(who(0, 3), word << 32, what, address, 7);
        if faults {
            run.faulted(address);
        }
    }
    world.told()
}

#[test]
fn memory_that_no_allocation_holds() {
    let both = &[Touch::Read, Touch::Write][..];
    for (setting, address, faults, expected) in [
        (USUAL, FAR, false, &[][..]),
        (STRICT, FAR, false, &[]),
        (USUAL, CONSTANT, false, &["ReadOnlyWrite 2"]),
        (STRICT, CONSTANT, false, &["ReadOnlyWrite 2"]),
        (USUAL, PROGRAMS, false, &[]),
        (
            STRICT,
            PROGRAMS,
            false,
            &["ProgramMemory 1", "ProgramMemory 2"],
        ),
        // What can be read cannot be written.
        (USUAL, FAR, true, &["InvalidPointer 1", "ReadOnlyWrite 2"]),
        (
            USUAL,
            PROGRAMS,
            true,
            &["InvalidPointer 1", "InvalidPointer 2"],
        ),
    ] {
        let told = unknown(setting, address, both, faults);
        assert_eq!(told, expected, "{address:#x} {faults}");
    }
}

#[test]
fn freed_memory_has_no_history() {
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (0, 0), Scratch::default());
    let access = |touch| {
        let op = CheckOp::Access(touch, 4);
        let space = AddressSpace::Global;
        What { op, space }.encode()
    };
    run.one(who(0, 0), 1 << 32, access(Touch::Write), DEVICE, 0);
    run.release();
    checker.freed(DEVICE);
    run.one(who(0, 1), 2 << 32, access(Touch::Read), DEVICE, 0);
    run.release();
    checker.allocated(DEVICE, SIZE, 2, 0);
    run.one(who(0, 2), 3 << 32, access(Touch::Read), DEVICE, 0);
    // Partly outside: the bounds are told elsewhere.
    run.one(
        who(0, 2),
        4 << 32,
        access(Touch::Write),
        DEVICE + SIZE - 2,
        0,
    );
    run.one(
        who(0, 3),
        5 << 32,
        access(Touch::Write),
        DEVICE + SIZE - 2,
        0,
    );
    assert_eq!(world.told(), [""; 0]);
}

#[test]
fn lanes_are_work_items() {
    let (world, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let call = |word: u64, touch, active, addresses| {
        let op = CheckOp::Access(touch, 4);
        let space = AddressSpace::Global;
        let what = What { op, space }.encode();
        let values = Some(&[7; 8][..]);
        let lanes = Lanes {
            active,
            addresses,
            values,
        };
        run.lanes(who(0, 0), word << 32, what, &lanes);
    };
    let row = |first, step| Addresses::Row { first, step };
    call(1, Touch::Write, 0xff, row(DEVICE, 4));
    call(2, Touch::Read, 0xff, row(DEVICE, 4));
    // Backwards: lane 3 reads lane 4's word, and so on; lanes that take no part read nothing.
    call(3, Touch::Read, 0x08, row(DEVICE + 28, -4));
    assert_eq!(world.told(), ["RaceOfWorkItems 3/1"]);
    let side = |mistake: &kernel_checker::Mistake| {
        let other = mistake.other.as_ref().map(|other| other.item);
        (mistake.side.item, other)
    };
    assert_eq!(side(&script::lock(&world.mistakes)[0]), (3, Some(4)));
    // Two lanes of one call.
    let at = |offset| DEVICE + 256 + offset;
    let addresses = [at(0), at(4), at(8), at(4)];
    call(4, Touch::Write, 0xf, Addresses::Each(&addresses));
    // Fewer addresses than lanes: what is there counts.
    call(5, Touch::Read, 0xff, Addresses::Each(&addresses[..1]));
    run.end();
    checker.end(&launch);
    let told = world.told();
    assert_eq!(told[1..], ["SameValueWrite 4/4"]);
}

#[test]
fn words_that_mean_nothing_are_ignored() {
    let (_, checker) = script::checker(USUAL);
    let kernel = script::kernel(USUAL);
    let launch = script::launch(&checker, &kernel);
    let run = Run::new(&checker, &launch, (LOCAL, SIZE), Scratch::default());
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        state.rotate_right(11)
    };
    for _ in 0..20_000 {
        // Half of them: an operation that exists, on an address near an allocation.
        let [mut what, mut address] = [random(), random()];
        if random() % 2 == 0 {
            let (touch, space, size) = (random() % 4, random() % 5, random() % 32);
            what = (what % 16) | (touch << 8) | (space << 32) | (size << 40);
            let start = [DEVICE, LOCAL][(address >> 32) as usize % 2];
            address = start + address % (2 * SIZE);
        }
        run.one(random(), random(), what, address, random());
        let (step, values) = (random().cast_signed(), [random(); 3]);
        let addresses = match random() % 2 {
            0 => Addresses::Row {
                first: address,
                step,
            },
            _ => Addresses::Each(&values),
        };
        let lanes = Lanes {
            active: random(),
            addresses,
            values: Some(&values),
        };
        run.lanes(random(), random(), what, &lanes);
    }
    run.end();
    checker.end(&launch);
}
