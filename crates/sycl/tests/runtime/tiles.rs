//! `BufferOptions::separate_tiles`: the sub-devices of a device share the buffer's one allocation, or have one each.

use std::process::Command;

use sycl::{
    AtOffset, Buffer, BufferOptions, Context, Device, Partition, Platform, Queue, Range, Read,
    ReadWrite,
};

use crate::world::{Log, devices};
use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "h14_tiles_share_or_have_memories_of_their_own",
        Where::Tiles,
        on_tiles,
    ),
    (
        "h14_tiles_without_their_own_memory_use_the_hosts",
        Where::Host,
        on_tiles_over_the_hosts_memory,
    ),
    (
        "h14_devices_without_tiles_are_as_ever",
        Where::Discrete,
        on_devices_without_tiles,
    ),
    (
        "h14_tiles_of_the_driver_itself",
        Where::Discrete,
        on_the_drivers_tiles,
    ),
];

mod embedded {
    sycl::kernels! {
        pub(crate) unsafe mod kernels = "../../kernels/tests.spv" { add_one }
    }
}
use embedded::kernels::add_one;

const ELEMENTS: usize = 64;
const BYTES: u64 = 4 * ELEMENTS as u64;

fn with(separate_tiles: bool) -> Buffer<'static, i32> {
    let options = BufferOptions {
        page_size: Some(Range([ELEMENTS / 2])),
        separate_tiles,
    };
    Buffer::from_slice_with(&[1; ELEMENTS], ELEMENTS, &options).unwrap()
}

/// Adds one to `range` elements from `offset` on a device.
fn add(buffer: &Buffer<'static, i32>, device: &Device, range: usize, offset: usize) {
    let context = Platform::all().unwrap()[0].default_context().unwrap();
    add_in(&context, buffer, device, range, offset);
}

fn add_in(
    context: &Context,
    buffer: &Buffer<'static, i32>,
    device: &Device,
    range: usize,
    offset: usize,
) {
    let queue = Queue::builder().context(context).device(device);
    let queue = queue.build().unwrap();
    let added = queue.submit(|cg| {
        let a = cg.access_ranged(buffer, ReadWrite, range, offset)?;
        cg.parallel_for(add_one, range, (AtOffset(&a),))
    });
    added.unwrap().wait().unwrap();
}

/// The distinct addresses of a buffer.
fn places(buffer: &Buffer<'static, i32>, users: &[&Device]) -> usize {
    let pointers = users.iter().map(|device| buffer.device_ptr(device));
    let mut pointers: Vec<_> = pointers.map(Option::unwrap).collect();
    pointers.sort_unstable();
    pointers.dedup();
    pointers.len()
}

/// The whole device and two sub-devices with peer access add in turn.
fn in_turn(root: &Device) {
    let parts = root
        .create_sub_devices(&Partition::AffinityNextPartitionable)
        .unwrap();
    let users = [root, &parts[0], &parts[1], &parts[0]];
    for (separate_tiles, (allocations, copies)) in [(false, (1, 1)), (true, (3, 4))] {
        let log = Log::start();
        let buffer = with(separate_tiles);
        for device in users {
            add(&buffer, device, ELEMENTS, 0);
        }
        assert_eq!(log.device_allocations(), vec![BYTES; allocations]);
        assert_eq!(log.copies(), vec![BYTES; copies], "{separate_tiles}");
        assert_eq!(places(&buffer, &users), allocations);
        // Each sub-device writes one half: the first has it, the second does not.
        let before = log.copies().len();
        add(&buffer, &parts[0], ELEMENTS / 2, 0);
        add(&buffer, &parts[1], ELEMENTS / 2, ELEMENTS / 2);
        let moved: u64 = log.copies()[before..].iter().sum();
        assert_eq!(moved % (BYTES / 2), 0, "whole pages");
        assert_eq!(moved > 0, separate_tiles, "{moved} bytes");
        // One sub-device's memory is released; contents that are only there are not lost.
        buffer.release(&parts[0]).unwrap();
        assert_eq!(buffer.device_ptr(&parts[0]), None);
        assert_eq!(buffer.allocated_on(&parts[1]), separate_tiles);
        drop(log);
        add(&buffer, root, ELEMENTS, 0);
        assert_eq!(buffer.into_vec().unwrap(), [7; ELEMENTS]);
    }
}

fn on_tiles() {
    let root = &devices()[0];
    in_turn(root);
    // Nested sub-devices too; the owner of each one's memory is known.
    let parts = |device: &Device| {
        device
            .create_sub_devices(&Partition::AffinityNextPartitionable)
            .unwrap()
    };
    let (halves, quarters) = (parts(root), parts(&parts(root)[1]));
    let users = [&halves[0], &halves[1], &quarters[0], &quarters[1]];
    let buffer = with(true);
    let context = Platform::all().unwrap()[0].default_context().unwrap();
    for device in users {
        add(&buffer, device, ELEMENTS, 0);
        let pointer = buffer.device_ptr(device).unwrap();
        let owner = sycl::usm::pointer_device(pointer.cast(), &context);
        assert_eq!(owner.unwrap(), *device);
    }
    assert_eq!(places(&buffer, &users), users.len());
    assert_eq!(*buffer.host_access(Read).unwrap(), [5; ELEMENTS]);
}

fn on_devices_without_tiles() {
    let devices = devices();
    let asked = [false, true].map(|separate_tiles| {
        let log = Log::start();
        let buffer = with(separate_tiles);
        for device in &devices {
            add(&buffer, device, ELEMENTS, 0);
        }
        let seen = (log.device_allocations(), log.copies());
        drop(log);
        let sum = 1 + devices.len() as i32;
        assert_eq!(buffer.into_vec().unwrap(), [sum; ELEMENTS]);
        seen
    });
    assert_eq!(asked[0], asked[1]);
}

/// Runs in a separate process: one device with two sub-devices.
pub(crate) fn of_the_driver() {
    crate::world::enter();
    let root = &devices()[0];
    match std::env::var("SOLUM_DEVICES").is_ok_and(|devices| devices.ends_with("discrete")) {
        true => in_turn(root),
        false => over_the_hosts_memory(root),
    }
}

/// In the context of the buffer's host memory and in another one, sub-devices use the whole device's memory.
fn over_the_hosts_memory(root: &Device) {
    let parts = root
        .create_sub_devices(&Partition::AffinityNextPartitionable)
        .unwrap();
    let other = Context::new(std::slice::from_ref(root)).unwrap();
    let seen = [false, true].map(|separate_tiles| {
        let log = Log::start();
        let buffer = with(separate_tiles);
        for device in [root, &parts[0], &parts[1]] {
            add(&buffer, device, ELEMENTS, 0);
        }
        assert!(log.copies().is_empty(), "{separate_tiles}");
        for device in [root, &parts[0], &parts[1]] {
            add_in(&other, &buffer, device, ELEMENTS, 0);
        }
        let seen = (log.device_allocations(), log.copies());
        drop(log);
        assert_eq!(buffer.into_vec().unwrap(), [7; ELEMENTS]);
        seen
    });
    assert_eq!(seen[0], seen[1]);
}

fn in_a_process(devices: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .env(WORLD, "own tiles")
        .env("SOLUM_DEVICES", devices)
        .env("SOLUM_SUB_DEVICES", "2")
        .status();
    assert!(status.unwrap().success());
}

fn on_the_drivers_tiles() {
    in_a_process("cpu:1,discrete");
}

fn on_tiles_over_the_hosts_memory() {
    in_a_process("cpu:1");
}
