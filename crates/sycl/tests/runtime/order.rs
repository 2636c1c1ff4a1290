//! Dependencies: H31 to H34, host accessors, host tasks.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use sycl::{
    Buffer, DeviceData, Errc, Event, EventStatus, Id, Queue, Read, ReadWrite, Write, interop,
};

use crate::groups::{paged, submit_add_one};
use crate::world::{Gate, Log, argument, context, devices, is_running, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("conflict_matrix", Where::Everywhere, conflict_matrix),
    (
        "conflict_cross_device",
        Where::Everywhere,
        conflict_cross_device,
    ),
    (
        "disjoint_halves_overlap",
        Where::Everywhere,
        disjoint_halves_overlap,
    ),
    (
        "different_buffers_overlap",
        Where::Everywhere,
        different_buffers_overlap,
    ),
    (
        "h34_views_conflict_by_pages",
        Where::Everywhere,
        views_conflict_by_pages,
    ),
    ("in_order_queue", Where::Everywhere, in_order_queue),
    ("fanout_flat", Where::Host, fanout_flat),
    (
        "host_accessor_blocks_device",
        Where::Everywhere,
        host_accessor_blocks_device,
    ),
    (
        "host_accessor_same_thread_conflict",
        Where::Everywhere,
        same_thread_conflict,
    ),
    ("host_task_order", Where::Everywhere, host_task_order),
    (
        "kernel_args_checked",
        Where::Everywhere,
        kernel_args_checked,
    ),
    ("nd_range_checked", Where::Everywhere, nd_range_checked),
    ("profiling", Where::Everywhere, profiling),
    ("queue_create_once", Where::Everywhere, queue_create_once),
    (
        "pending_commands_stay_single",
        Where::Everywhere,
        tickets_not_compressed,
    ),
    (
        "event_outlives_ring",
        Where::Everywhere,
        event_outlives_ring,
    ),
    ("opposite_orders", Where::Everywhere, opposite_orders),
    ("host_views_overlap", Where::Everywhere, host_views_overlap),
    (
        "held_accessor_unrelated_reader",
        Where::Discrete,
        held_accessor_unrelated_reader,
    ),
    ("self_wait_detected", Where::Everywhere, self_wait_detected),
    ("host_task_targets", Where::Everywhere, host_task_targets),
    (
        "one_engine_no_deadlock",
        Where::OneEngine,
        one_engine_no_deadlock,
    ),
    ("threads_submit", Where::Everywhere, threads_submit),
    (
        "second_reader_waits_copy",
        Where::Discrete,
        second_reader_waits_copy,
    ),
];

pub(crate) fn access(
    queue: &Queue,
    buffer: &Buffer<'_, i32>,
    mode: usize,
    part: (usize, usize),
    after: &[Event],
) -> Event {
    let submitted = queue.submit(|cg| {
        cg.depends_on(after);
        let (first, count) = part;
        match mode {
            0 => _ = cg.access_ranged(buffer, Read, count, first)?,
            1 => _ = cg.access_ranged(buffer, Write, count, first)?,
            2 => _ = cg.access_ranged(buffer, ReadWrite, count, first)?,
            3 => _ = cg.access_ranged(buffer, Write.no_init(), count, first)?,
            _ => _ = cg.access_ranged(buffer, ReadWrite.no_init(), count, first)?,
        }
        cg.barrier()
    });
    submitted.unwrap()
}

fn conflict_matrix() {
    let queue = queue(0);
    for first in 0..5 {
        for second in 0..5 {
            // The first group's part is in the middle of a page: accesses to the same page conflict, others do not.
            for (part, overlaps) in [
                ((0, 8), true),
                ((4, 1), true),
                ((7, 1), true),
                ((8, 4), false),
                ((12, 4), false),
            ] {
                let buffer = paged();
                // Nothing is left to copy.
                access(&queue, &buffer, 2, (0, 16), &[]).wait().unwrap();
                let gate = Gate::new();
                let one = access(
                    &queue,
                    &buffer,
                    first,
                    (5, 2),
                    std::slice::from_ref(&gate.event),
                );
                let two = access(&queue, &buffer, second, part, &[]);
                let conflict = overlaps && (first, second) != (0, 0);
                if conflict {
                    assert!(is_running(&two), "{first} {second} {part:?}");
                } else {
                    two.wait().unwrap();
                }
                assert!(is_running(&one));
                gate.open();
                two.wait().unwrap();
                one.wait().unwrap();
            }
        }
    }
}

fn conflict_cross_device() {
    let (first, second) = (queue(0), queue(1));
    let buffer = paged();
    let gate = Gate::new();
    let read = access(
        &first,
        &buffer,
        0,
        (0, 16),
        std::slice::from_ref(&gate.event),
    );
    let write = access(&second, &buffer, 3, (0, 16), &[]);
    gate.holds_up(|| {
        write.wait().unwrap();
        assert!(!is_running(&read));
    });
}

/// Two kernels that end only when both have begun.
fn meet<T: DeviceData>(
    queue: &Queue,
    one: &Buffer<'_, T>,
    other: &Buffer<'_, T>,
    parts: [(usize, usize); 2],
) {
    let meet = kernel("meet");
    let flags = sycl::usm::Block::<i32, sycl::usm::SharedKind>::shared(queue, 2).unwrap();
    // SAFETY: the block lives to the function's end.
    unsafe {
        queue
            .memset(flags.as_ptr().cast(), 0, 8, &[])
            .unwrap()
            .wait()
            .unwrap()
    };
    let mut events = Vec::new();
    for (buffer, (mine, part)) in [one, other].into_iter().zip([(0, parts[0]), (1, parts[1])]) {
        let submitted = queue.submit(|cg| {
            cg.access_ranged(buffer, ReadWrite, part.1, part.0)?;
            cg.single_task(&meet, (&flags, mine, 1 - mine))
        });
        events.push(submitted.unwrap());
    }
    Event::wait_all(&events).unwrap();
}

fn disjoint_halves_overlap() {
    let (queue, buffer) = (queue(0), paged());
    meet(&queue, &buffer, &buffer, [(0, 8), (8, 8)]);
}

/// Views share the buffer's pages: views on different pages run at once, views on one page do not.
fn views_conflict_by_pages() {
    let (queue, buffer) = (queue(0), paged());
    let [one, other] = [0, 8].map(|first| buffer.sub(first, 8).unwrap());
    meet(&queue, &one, &other, [(0, 8), (0, 8)]);
    meet(&queue, &one, &buffer, [(0, 8), (8, 8)]);
    let bytes = buffer.reinterpret::<u8, 1>(64).unwrap();
    meet(&queue, &bytes, &bytes, [(0, 32), (32, 32)]);
    // Elements 6 and 7 are in the same page, and so are bytes 20 and 31.
    let parts = [(0, 7), (7, 9)].map(|(first, count)| buffer.sub(first, count).unwrap());
    let writes = |view: &Buffer<'_, i32>, after: &[Event]| {
        let submitted = queue.submit(|cg| {
            cg.depends_on(after);
            let all = cg.access(view, Write)?;
            cg.fill(&all, 1)
        });
        submitted.unwrap()
    };
    let sets = |first: usize, after: &[Event]| {
        let submitted = queue.submit(|cg| {
            cg.depends_on(after);
            let part = cg.access_ranged(&bytes, Write, 1, first)?;
            cg.fill(&part, 1)
        });
        submitted.unwrap()
    };
    let gate = Gate::new();
    let first = writes(&parts[0], std::slice::from_ref(&gate.event));
    let second = writes(&parts[1], &[]);
    gate.holds_up(|| {
        second.wait().unwrap();
        assert!(!is_running(&first));
    });
    let gate = Gate::new();
    let first = sets(20, std::slice::from_ref(&gate.event));
    let second = sets(31, &[]);
    gate.holds_up(|| {
        second.wait().unwrap();
        assert!(!is_running(&first));
    });
    // A view and the buffer itself.
    let gate = Gate::new();
    let first = writes(&parts[1], std::slice::from_ref(&gate.event));
    let second = access(&queue, &buffer, 0, (4, 2), &[]);
    gate.holds_up(|| {
        second.wait().unwrap();
        assert!(!is_running(&first));
    });
}

fn different_buffers_overlap() {
    meet(&queue(0), &paged(), &paged(), [(0, 16), (0, 16)]);
}

fn in_order_queue() {
    let queue = Queue::builder()
        .device(&devices()[0])
        .in_order()
        .build()
        .unwrap();
    let gate = Gate::new();
    let one = submit_add_one(&queue, &paged(), std::slice::from_ref(&gate.event));
    let two = submit_add_one(&queue, &paged(), &[]);
    assert!(is_running(&one) && is_running(&two));
    gate.open();
    two.wait().unwrap();
    assert_eq!(one.status(), EventStatus::Complete);
}

fn fanout_flat() {
    let queue = queue(0);
    let buffer = paged();
    for readers in [10, 1000, 100_000] {
        let gate = Gate::new();
        let first = access(
            &queue,
            &buffer,
            2,
            (0, 16),
            std::slice::from_ref(&gate.event),
        );
        for _ in 1..readers {
            access(&queue, &buffer, 0, (0, 16), &[]);
        }
        {
            // The last costs as much as the first.
            let log = Log::start();
            access(&queue, &buffer, 0, (0, 16), &[]);
            let calls = log.0.calls();
            assert!(calls.len() <= 6, "{readers}: {calls:?}");
        }
        let log = Log::start();
        let writer = access(&queue, &buffer, 2, (0, 16), &[]);
        let calls = log.0.calls();
        let waits: u64 = log
            .calls("zeCommandListAppendBarrier")
            .iter()
            .map(|call| argument(call, "numWaitEvents"))
            .sum();
        assert!(calls.len() <= 12 && waits <= 4, "{readers}: {calls:?}");
        drop(log);
        gate.open();
        writer.wait().unwrap();
        first.wait().unwrap();
    }
}

fn host_accessor_blocks_device() {
    let queue = queue(0);
    let (held, other) = (paged(), paged());
    let mut access = held.host_access(ReadWrite).unwrap();
    let reader = submit_add_one(&queue, &held, &[]);
    submit_add_one(&queue, &other, &[]).wait().unwrap();
    assert_eq!(reader.status(), EventStatus::Submitted);
    access[0] = 41;
    drop(access);
    reader.wait().unwrap();
    assert_eq!(held.into_vec().unwrap()[..2], [42, 1]);
}

fn same_thread_conflict() {
    let buffer = paged();
    let one = buffer.host_access(Read).unwrap();
    drop(buffer.host_access(Read).unwrap());
    assert_eq!(
        buffer.host_access(ReadWrite).unwrap_err().errc(),
        Errc::Invalid
    );
    drop(one);
    let part = buffer.host_access_ranged(ReadWrite, 4, 0).unwrap();
    drop(buffer.host_access_ranged(ReadWrite, 4, 4).unwrap());
    drop(part);
    buffer.host_access(ReadWrite).unwrap();
}

fn host_task_order() {
    let (queue, buffer) = (queue(0), paged());
    submit_add_one(&queue, &buffer, &[]);
    let task = queue.submit(|cg| {
        let view = cg.host_task_access(&buffer, ReadWrite)?;
        cg.host_task((view,), |_, (mut view,)| {
            view.as_mut_slice()
                .iter_mut()
                .for_each(|element| *element *= 10);
            Ok(())
        })
    });
    submit_add_one(&queue, &buffer, &[]);
    assert_eq!(buffer.into_vec().unwrap(), [11; 16]);
    task.unwrap().wait().unwrap();
}

fn kernel_args_checked() {
    let (queue, buffer) = (queue(0), paged());
    let (add, set) = (kernel("add"), kernel("set"));
    let log = Log::start();
    let refused = [
        queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&add, 16, (&a,))
        }),
        queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&set, 16, (&a, 1u64))
        }),
        queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&set, 16, (1i32, &a))
        }),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert_eq!(error.errc(), Errc::KernelArgument, "{error}");
    }
    assert!(
        log.0
            .calls()
            .iter()
            .all(|call| !call.function.contains("Append"))
    );
}

fn nd_range_checked() {
    let (queue, add_one, buffer) = (queue(0), kernel("add_one"), paged());
    for (global, local) in [(16, 3), (16, 0), (1 << 20, 1 << 20)] {
        let refused = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for_nd(&add_one, sycl::NdRange::new(global, local), (&a,))
        });
        assert_eq!(
            refused.unwrap_err().errc(),
            Errc::NdRange,
            "{global} {local}"
        );
    }
}

fn profiling() {
    let queue = Queue::builder()
        .device(&devices()[0])
        .enable_profiling()
        .build()
        .unwrap();
    let buffer = paged();
    let times = submit_add_one(&queue, &buffer, &[]).profiling().unwrap();
    assert!(
        times.submit_ns <= times.start_ns && times.start_ns <= times.end_ns,
        "{times:?}"
    );
    assert!(times.end_ns > 0);
    let plain = submit_add_one(&crate::world::queue(0), &buffer, &[]);
    assert_eq!(plain.profiling().unwrap_err().errc(), Errc::Invalid);
}

fn queue_create_once() {
    let log = Log::start();
    let queue = Queue::builder()
        .device(&devices()[0])
        .submission(sycl::Submission::Batched)
        .in_order()
        .build()
        .unwrap();
    let buffer = paged();
    for _ in 0..1000 {
        submit_add_one(&queue, &buffer, &[]);
    }
    queue.wait().unwrap();
    let native = interop::get_native(&queue).command_queue().unwrap();
    drop(queue);
    // Queues of earlier tests may be destroyed here too.
    let destroyed = log.calls("zeCommandQueueDestroy").into_iter();
    let own =
        |call: &ze_layers::recorder::Call| argument(call, "hCommandQueue") == native.addr() as u64;
    assert_eq!(
        (
            log.count("zeCommandQueueCreate"),
            destroyed.filter(own).count()
        ),
        (1, 1)
    );
    drop(log);
    assert_eq!(buffer.into_vec().unwrap(), [1000; 16]);
}

fn tickets_not_compressed() {
    let (queue, buffer) = (queue(0), paged());
    let mut senders = Vec::new();
    for _ in 0..3 {
        let (sender, receiver) = channel::<()>();
        let task = queue.submit(|cg| {
            let view = cg.host_task_access(&buffer, Read)?;
            cg.host_task((view,), move |_, (_view,)| {
                let _ = receiver.recv();
                Ok(())
            })
        });
        senders.push((sender, task.unwrap()));
    }
    let writer = submit_add_one(&queue, &buffer, &[]);
    let order = [2, 0, 1];
    for (turn, number) in order.into_iter().enumerate() {
        assert_eq!(writer.status(), EventStatus::Submitted, "turn {turn}");
        senders[number].0.send(()).unwrap();
        senders[number].1.wait().unwrap();
    }
    writer.wait().unwrap();
}

/// Whether or not the event is polled before its list reuses it: the times are not stored before that.
fn event_outlives_ring() {
    let queue = Queue::builder()
        .device(&devices()[0])
        .enable_profiling()
        .build()
        .unwrap();
    let buffer = paged();
    let earlier = submit_add_one(&queue, &buffer, &[]).profiling().unwrap();
    let first = submit_add_one(&queue, &buffer, &[]);
    let second = submit_add_one(&queue, &buffer, &[]);
    for step in 0..10_000 {
        let event = submit_add_one(&queue, &buffer, &[]);
        if step % 50 == 0 {
            event.wait().unwrap();
        }
    }
    queue.wait().unwrap();
    assert_eq!(first.status(), EventStatus::Complete);
    let (one, other) = (first.profiling().unwrap(), second.profiling().unwrap());
    assert!(earlier.end_ns <= one.start_ns, "{earlier:?}, then {one:?}");
    assert!(
        one.submit_ns <= one.start_ns && one.start_ns <= one.end_ns,
        "{one:?}"
    );
    assert!(one.end_ns <= other.start_ns, "{one:?}, then {other:?}");
    let last = submit_add_one(&queue, &buffer, &[]).profiling().unwrap();
    assert!(other.end_ns <= last.start_ns, "{other:?}, then {last:?}");
}

fn host_views_overlap() {
    let (queue, buffer) = (queue(0), paged());
    let run = |second: (usize, usize)| {
        queue.submit(|cg| {
            let one = cg.host_task_access_ranged(&buffer, ReadWrite, 8, 0)?;
            let two = cg.host_task_access_ranged(&buffer, Read, second.1, second.0)?;
            cg.host_task((one, two), |_, (mut one, two)| {
                one.as_mut_slice()[0] = two.as_slice()[0];
                Ok(())
            })
        })
    };
    assert_eq!(run((7, 2)).unwrap_err().errc(), Errc::Invalid);
    run((8, 8)).unwrap().wait().unwrap();
    // Tiles beside each other interleave in memory, but share no elements.
    let plane = Buffer::from_slice(&[0i32; 16], [4, 4]).unwrap();
    let tiles = |first: [usize; 2]| {
        queue.submit(|cg| {
            let one = cg.host_task_access_ranged(&plane, ReadWrite, [4, 2], [0, 0])?;
            let two = cg.host_task_access_ranged(&plane, ReadWrite, [2, 2], first)?;
            cg.host_task((one, two), |_, (mut one, mut two)| {
                one.set(Id([3, 1]), 1);
                two.set(Id([1, 0]), 2);
                Ok(())
            })
        })
    };
    assert_eq!(tiles([1, 1]).unwrap_err().errc(), Errc::Invalid);
    tiles([1, 2]).unwrap().wait().unwrap();
    let seen = plane.host_access(Read).unwrap();
    assert_eq!((seen[Id([3, 1])], seen[Id([2, 2])]), (1, 2));
}

/// Threads that access two buffers in opposite order neither deadlock nor order the two buffers differently.
fn opposite_orders() {
    const ROUNDS: u64 = 100;
    let buffers = [0, 1].map(|_| Buffer::from_slice(&[0u64; 4], 4).unwrap());
    std::thread::scope(|scope| {
        for thread in [0, 1] {
            let (one, other) = (&buffers[thread], &buffers[1 - thread]);
            scope.spawn(move || {
                let queue = queue(0);
                for round in 0..ROUNDS {
                    let own = 2 * round + thread as u64;
                    let submitted = queue.submit(|cg| {
                        let one = cg.host_task_access(one, ReadWrite)?;
                        let other = cg.host_task_access(other, ReadWrite)?;
                        cg.host_task((one, other), move |_, (mut one, mut other)| {
                            for view in [one.as_mut_slice(), other.as_mut_slice()] {
                                view[0] = view[0].wrapping_mul(31).wrapping_add(own);
                                view[1] += 1;
                            }
                            Ok(())
                        })
                    });
                    submitted.unwrap();
                }
                queue.wait().unwrap();
            });
        }
    });
    let [one, other] = buffers.map(|buffer| buffer.into_vec().unwrap());
    assert_eq!((&one, one[1]), (&other, 2 * ROUNDS));
}

fn held_accessor_unrelated_reader() {
    let queue = queue(0);
    let (held, shared) = (paged(), paged());
    let access = held.host_access(ReadWrite).unwrap();
    let log = Log::start();
    let add = kernel("add");
    let out: Buffer<'_, i32> = Buffer::new(16).unwrap();
    let blocked = queue.submit(|cg| {
        let (x, y) = (cg.access(&held, Read)?, cg.access(&shared, Read)?);
        let out = cg.access(&out, Write.no_init())?;
        cg.parallel_for(&add, 16, (&x, &y, &out))
    });
    let free = self::access(&queue, &shared, 0, (0, 16), &[]);
    free.wait().unwrap();
    assert_eq!(log.copies(), [64], "the shared buffer, one copy");
    assert_eq!(blocked.as_ref().unwrap().status(), EventStatus::Submitted);
    drop(access);
    blocked.unwrap().wait().unwrap();
}

fn self_wait_detected() {
    let queue = queue(0);
    let (held, written) = (paged(), paged());
    let access = held.host_access(ReadWrite).unwrap();
    let copy = kernel("copy");
    let blocked = queue
        .submit(|cg| {
            let (from, to) = (cg.access(&held, Read)?, cg.access(&written, ReadWrite)?);
            cg.parallel_for(&copy, 16, (&from, &to))
        })
        .unwrap();
    for error in [
        written.host_access(Read).map(drop).unwrap_err(),
        blocked.wait().unwrap_err(),
        queue.wait().unwrap_err(),
    ] {
        assert_eq!(error.errc(), Errc::Invalid, "{error}");
    }
    drop(access);
    blocked.wait().unwrap();
    queue.wait().unwrap();
    written.host_access(Read).unwrap();
}

fn host_task_targets() {
    let queue = queue(0);
    let (native, view) = (paged(), paged());
    submit_add_one(&queue, &native, &[]);
    submit_add_one(&queue, &view, &[]);
    let (sender, receiver) = channel();
    let task = queue.submit(|cg| {
        let native = cg.access(&native, Read)?;
        let view = cg.host_task_access(&view, Read)?;
        cg.host_task((native, view), move |handle, (native, view)| {
            let pointer = handle.native_mem(&native)?.addr();
            let _ = sender.send((pointer, view.as_slice().to_vec()));
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    let (pointer, seen) = receiver.recv().unwrap();
    assert_eq!(pointer, native.device_ptr(&queue.device()).unwrap().addr());
    assert_eq!(seen, [1; 16]);
    let refused = queue.submit(|cg| {
        let a = cg.access(&native, Read)?;
        let b = cg.host_task_access(&native, ReadWrite)?;
        cg.host_task((a, b), |_, _| Ok(()))
    });
    assert_eq!(refused.unwrap_err().errc(), Errc::Invalid);
}

fn threads_submit() {
    const THREADS: usize = 16;
    // Two groups each.
    const ROUNDS: i32 = 500;
    let shared = paged();
    let count = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, count) = (&shared, &count);
            scope.spawn(move || {
                let queue = queue(thread % devices().len());
                let own = paged();
                for _ in 0..ROUNDS {
                    submit_add_one(&queue, &own, &[]);
                    submit_add_one(&queue, shared, &[]);
                }
                assert_eq!(own.into_vec().unwrap(), [ROUNDS; 16]);
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(count.into_inner(), THREADS as u32);
    assert_eq!(shared.into_vec().unwrap(), [THREADS as i32 * ROUNDS; 16]);
}

fn second_reader_waits_copy() {
    let (writer, reader) = (queue(0), queue(1));
    let buffer = paged();
    let gate = Gate::of(&context());
    submit_add_one(&writer, &buffer, std::slice::from_ref(&gate.event));
    let copy = kernel("copy");
    let outs = [0, 1].map(|_| Buffer::<i32>::new(16).unwrap());
    let log = Log::start();
    let readers = outs.each_ref().map(|out| {
        let submitted = reader.submit(|cg| {
            let (from, to) = (cg.access(&buffer, Read)?, cg.access(out, Write.no_init())?);
            cg.parallel_for(&copy, 16, (&from, &to))
        });
        submitted.unwrap()
    });
    assert_eq!(log.copies(), [64, 64], "to the host, and on, for both");
    assert!(readers.iter().all(is_running));
    gate.open();
    Event::wait_all(&readers).unwrap();
    assert_eq!(log.copies().len(), 2);
    drop(log);
    for out in outs {
        assert_eq!(out.into_vec().unwrap(), [1; 16]);
    }
}

/// All lists of a device are one queue of appends: an append that waits for a later one would deadlock. A host
/// accessor, host tasks and work on several lanes and two devices run repeatedly.
fn one_engine_no_deadlock() {
    const ROUNDS: i32 = 30;
    let queues = [queue(0), queue(0), queue(1)];
    let engine = interop::get_native(&queues[0]);
    assert_eq!(interop::get_native(&queues[1]), engine, "one for both");
    let buffers = [paged(), paged(), paged()];
    let (sender, receiver) = channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if receiver.recv_timeout(std::time::Duration::from_secs(600))
            == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            std::process::abort();
        }
    });
    let add_one = kernel("add_one");
    for _ in 0..ROUNDS {
        let held = buffers[0].host_access(ReadWrite).unwrap();
        // Deferred by the accessor, with a free buffer that other work uses.
        let late = queues[0]
            .submit(|cg| {
                let (a, _b) = (
                    cg.access(&buffers[0], ReadWrite)?,
                    cg.access(&buffers[1], Read)?,
                );
                cg.parallel_for(&add_one, 16, (&a,))
            })
            .unwrap();
        let task = queues[1]
            .submit(|cg| {
                let view = cg.host_task_access(&buffers[2], ReadWrite)?;
                cg.host_task((view,), |_, (mut view,)| {
                    view.as_mut_slice().iter_mut().for_each(|value| *value += 1);
                    Ok(())
                })
            })
            .unwrap();
        // After the host task on one device, before it on the other.
        let after = submit_add_one(&queues[2], &buffers[2], &[]);
        let free = [0, 1, 2].map(|number| {
            let queue = &queues[number];
            queue
                .submit(|cg| {
                    let _b = cg.access(&buffers[1], Read)?;
                    cg.barrier()
                })
                .unwrap()
        });
        for event in free {
            event.wait().unwrap();
        }
        assert!(is_running(&late));
        drop(held);
        submit_add_one(&queues[1], &buffers[1], std::slice::from_ref(&late));
        for event in [late, task, after] {
            event.wait().unwrap();
        }
    }
    for queue in &queues {
        queue.wait().unwrap();
    }
    drop(sender);
    watchdog.join().unwrap();
    let [a, b, c] = buffers.map(|buffer| buffer.into_vec().unwrap());
    assert_eq!((a[3], b[3], c[3]), (ROUNDS, ROUNDS, 2 * ROUNDS));
}
