//! Work under way when its device was lost, or whose batch could not be executed: its copies and writes are not treated
//! as done.

use std::sync::mpsc::channel;

use sycl::{Buffer, Context, Event, EventStatus, Queue, Read, ReadWrite, Submission, Write};

use crate::groups::{paged, submit_add_one};
use crate::order::access;
use crate::world::{Gate, Log, devices, kernel};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "copies_of_a_lost_device_are_invalid",
        Where::Discrete,
        copies_of_a_lost_device_are_invalid,
    ),
    (
        "other_copies_survive_a_lost_one",
        Where::Discrete,
        other_copies_survive_a_lost_one,
    ),
    (
        "results_after_a_failed_wait_are_poisoned",
        Where::Everywhere,
        results_after_a_failed_wait_are_poisoned,
    ),
    (
        "results_of_a_failed_batch_are_poisoned",
        Where::Everywhere,
        results_of_a_failed_batch_are_poisoned,
    ),
    (
        "results_of_a_lost_deferred_writer_are_poisoned",
        Where::Everywhere,
        results_of_a_lost_deferred_writer_are_poisoned,
    ),
    (
        "followers_of_lost_work_fail",
        Where::Everywhere,
        followers_of_lost_work_fail,
    ),
];

/// Queues of the first devices.
fn queues<const N: usize>() -> [Queue; N] {
    let context = Context::new(&devices()).unwrap();
    let mut devices = devices().into_iter().cycle();
    [(); N].map(|()| {
        let queue = Queue::builder().context(&context);
        let queue = queue.device(&devices.next().unwrap());
        queue.submission(Submission::Immediate).build().unwrap()
    })
}

/// While this lives, waits report the device as lost. It is not really lost.
pub(crate) fn losing() -> Log {
    Log::with("fail zeEventHostSynchronize DEVICE_LOST")
}

pub(crate) fn try_add_one(queue: &Queue, buffer: &Buffer<'_, i32>) -> sycl::Result<Event> {
    let kernel = kernel("add_one");
    queue.submit(|cg| {
        let a = cg.access(buffer, ReadWrite)?;
        cg.parallel_for(&kernel, buffer.range(), (&a,))
    })
}

pub(crate) fn refused_as_poisoned(buffer: &Buffer<'_, i32>, count: usize, first: usize) {
    let refused = buffer.host_access_ranged(Read, count, first).unwrap_err();
    assert!(refused.to_string().contains("poisoned"), "{refused}");
}

fn copies_of_a_lost_device_are_invalid() {
    let [first, second] = queues();
    let buffer = paged();
    submit_add_one(&first, &buffer, &[]).wait().unwrap();
    {
        let log = losing();
        assert!(buffer.host_access(Read).is_err());
        assert_eq!(log.copies().len(), 1);
    }
    // It is nowhere else.
    let log = Log::start();
    let error = try_add_one(&second, &buffer).unwrap_err();
    assert!(error.to_string().contains("poisoned"), "{error}");
    assert_eq!(log.copies().len(), 0);
    drop(log);
    access(&second, &buffer, 3, (0, 16), &[]).wait().unwrap();
    try_add_one(&second, &buffer).unwrap().wait().unwrap();
    buffer.host_access(Read).unwrap();
}

/// A copy to a lost device does not remove the contents from its source.
fn other_copies_survive_a_lost_one() {
    let [first, second] = queues();
    let buffer = paged();
    let gate = Gate::new();
    let reader = access(
        &first,
        &buffer,
        0,
        (0, 16),
        std::slice::from_ref(&gate.event),
    );
    {
        let _log = losing();
        assert!(reader.wait().is_err());
    }
    gate.open();
    assert_eq!(reader.status(), EventStatus::Failed);
    buffer.host_access_ranged(ReadWrite, 4, 0).unwrap().fill(5);
    let log = Log::start();
    try_add_one(&second, &buffer).unwrap().wait().unwrap();
    assert_eq!(log.copies(), [64]);
    drop(log);
    assert_eq!(buffer.into_vec().unwrap()[3..5], [6, 1]);
}

/// The accessor's command writes nothing, but all other copies count as outdated. The work that it waited for
/// continues.
fn results_after_a_failed_wait_are_poisoned() {
    let [queue] = queues();
    let buffer = paged();
    let gate = Gate::new();
    let reader = access(
        &queue,
        &buffer,
        0,
        (0, 16),
        std::slice::from_ref(&gate.event),
    );
    let (held, dropped) = channel();
    std::thread::scope(|scope| {
        let log = Log::with("fail zeEventHostSynchronize OUT_OF_HOST_MEMORY");
        assert!(buffer.host_access_ranged(ReadWrite, 4, 0).is_err());
        drop(log);
        refused_as_poisoned(&buffer, 4, 0);
        let (buffer, reader) = (&buffer, &reader);
        scope.spawn(move || {
            let mut part = buffer.host_access_ranged(Write.no_init(), 4, 0).unwrap();
            let _ = held.send(reader.status());
            part.fill(5);
        });
        gate.open();
    });
    assert_eq!(dropped.recv().unwrap(), EventStatus::Complete);
    assert_eq!(buffer.into_vec().unwrap()[3..5], [5, 0]);
}

fn results_of_a_failed_batch_are_poisoned() {
    let [other] = queues();
    let queue = Queue::builder().device(&devices()[0]).in_order();
    let queue = queue.submission(Submission::Batched).build().unwrap();
    let buffer = paged();
    access(&queue, &buffer, 2, (0, 16), &[]).wait().unwrap();
    let gate = Gate::new();
    // While this runs, later commands are recorded.
    let before = queue.submit_barrier(std::slice::from_ref(&gate.event));
    let writer = access(&queue, &buffer, 2, (0, 8), &[]);
    {
        let log = Log::with("fail zeCommandQueueExecuteCommandLists OUT_OF_HOST_MEMORY");
        assert!(try_add_one(&other, &buffer).is_err());
        let failed = log.0.calls().iter().filter(|call| call.injected).count();
        assert_eq!(failed, 1);
    }
    let refused = try_add_one(&other, &buffer).unwrap_err();
    assert!(refused.to_string().contains("poisoned"), "{refused}");
    gate.open();
    before.unwrap().wait().unwrap();
    assert!(writer.wait().is_err());
    assert_eq!(writer.status(), EventStatus::Failed);
    assert!(try_add_one(&queue, &buffer).is_err(), "its list is lost");
    refused_as_poisoned(&buffer, 8, 0);
    assert_eq!(*buffer.host_access_ranged(Read, 8, 8).unwrap(), [0; 8]);
    access(&other, &buffer, 3, (0, 8), &[]);
    try_add_one(&other, &buffer).unwrap().wait().unwrap();
}

/// Even if the queue was not polled for so long that pending commands of finished work were dropped.
fn results_of_a_lost_deferred_writer_are_poisoned() {
    let [queue] = queues();
    let (buffer, others) = (paged(), paged());
    let gate = Gate::new();
    let held = buffer.host_access(ReadWrite).unwrap();
    let writer = submit_add_one(&queue, &buffer, std::slice::from_ref(&gate.event));
    drop(held);
    {
        let _log = losing();
        assert!(writer.wait().is_err());
    }
    gate.open();
    for _ in 0..600 {
        others.host_access(Read).unwrap();
    }
    refused_as_poisoned(&buffer, 16, 0);
}

/// On any queue, deferred or not.
fn followers_of_lost_work_fail() {
    let [queue, second] = queues();
    let (buffer, gate) = (paged(), Gate::new());
    let lost = submit_add_one(&queue, &paged(), std::slice::from_ref(&gate.event));
    let held = buffer.host_access(ReadWrite).unwrap();
    let kernel = kernel("add_one");
    let follow = |buffer: &Buffer<'_, i32>| {
        second.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&lost));
            let a = cg.access(buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        })
    };
    let follower = follow(&buffer).unwrap();
    {
        let _log = losing();
        assert!(lost.wait().is_err());
    }
    gate.open();
    drop(held);
    assert!(follower.wait().is_err());
    assert_eq!(follower.status(), EventStatus::Failed);
    refused_as_poisoned(&buffer, 16, 0);
    assert!(follow(&paged()).is_err());
}
