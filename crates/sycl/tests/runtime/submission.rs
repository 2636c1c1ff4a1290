//! Submission: batches on command queues, and copies of borrowed memory.

use sycl::{Buffer, Errc, EventStatus, Queue, ReadWrite, Submission, usm};

use crate::world::{Gate, Log, argument, devices, immediate, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "batches_are_executed_as_a_whole",
        Where::Everywhere,
        batches_are_executed_as_a_whole,
    ),
    (
        "a_batch_that_fails_fails_its_commands",
        Where::Everywhere,
        a_batch_that_fails,
    ),
    (
        "chain_no_wait_events",
        Where::Everywhere,
        chain_no_wait_events,
    ),
    (
        "thread_worker_events",
        Where::Everywhere,
        thread_worker_events,
    ),
    ("scope_borrow", Where::Everywhere, scope_borrow),
    (
        "a_panicking_group_submits_nothing",
        Where::Everywhere,
        a_group_that_panics,
    ),
    ("from_iterator", Where::Everywhere, from_iterator),
    (
        "threads_submit_to_one_queue_and_kernel",
        Where::Everywhere,
        one_queue_and_kernel_by_many_threads,
    ),
];

fn batched() -> Queue {
    let queue = Queue::builder().device(&devices()[0]).in_order();
    queue.submission(Submission::Batched).build().unwrap()
}

fn add_one(queue: &Queue, buffer: &Buffer<'_, i32>) -> sycl::Result<sycl::Event> {
    let add_one = kernel("add_one");
    queue.submit(|cg| {
        let a = cg.access(buffer, ReadWrite)?;
        cg.parallel_for(&add_one, 16, (&a,))
    })
}

fn batches_are_executed_as_a_whole() {
    const COMMANDS: usize = 40;
    let (queue, buffer) = (batched(), Buffer::from_slice(&[0i32; 16], 16).unwrap());
    // The copy of the contents to the device is not counted.
    add_one(&queue, &buffer).unwrap().wait().unwrap();
    let gate = Gate::new();
    let log = Log::start();
    queue
        .submit_barrier(std::slice::from_ref(&gate.event))
        .unwrap();
    let mut last = sycl::Event::default();
    for _ in 0..COMMANDS {
        last = add_one(&queue, &buffer).unwrap();
    }
    let executed = log.count("zeCommandQueueExecuteCommandLists");
    assert!((2..=4).contains(&executed), "{executed} lists");
    gate.open();
    // No thread waits: polling alone must submit the rest to the device.
    while last.status() != EventStatus::Complete {
        std::thread::yield_now();
    }
    assert_eq!(log.count("zeCommandQueueExecuteCommandLists"), executed + 1);
    drop(log);
    assert_eq!(buffer.into_vec().unwrap(), [COMMANDS as i32 + 1; 16]);
}

fn a_batch_that_fails() {
    let (queue, buffer) = (batched(), Buffer::from_slice(&[0i32; 16], 16).unwrap());
    let log = Log::with("fail zeCommandQueueExecuteCommandLists OUT_OF_HOST_MEMORY");
    let submitted = add_one(&queue, &buffer).and_then(|event| event.wait());
    assert_eq!(submitted.unwrap_err().errc(), Errc::MemoryAllocation);
    drop(log);
    drop(queue);
    let queue = batched();
    add_one(&queue, &buffer).unwrap().wait().unwrap();
}

/// An in-order list needs no events between its commands.
fn chain_no_wait_events() {
    const GROUPS: usize = 1000;
    let queue = immediate();
    let buffer = Buffer::from_slice(&[0i32; 16], 16).unwrap();
    let log = Log::start();
    for _ in 0..GROUPS {
        add_one(&queue, &buffer).unwrap();
    }
    let launches = log.calls("zeCommandListAppendLaunchKernelWithArguments");
    assert_eq!(launches.len(), GROUPS);
    let waits = launches.iter().skip(1);
    let waits: u64 = waits.map(|call| argument(call, "numWaitEvents")).sum();
    assert_eq!(waits, 0);
    drop(log);
    assert_eq!(buffer.into_vec().unwrap(), [GROUPS as i32; 16]);
}

/// Barriers on native events that a thread signals while later work is submitted.
fn thread_worker_events() {
    const ROUNDS: i32 = 20;
    const EVENTS: i32 = 3;
    let (queue, buffer) = (queue(0), Buffer::from_slice(&[0i32; 16], 16).unwrap());
    for _ in 0..ROUNDS {
        let gates = [(); EVENTS as usize].map(|()| Gate::new());
        std::thread::scope(|scope| {
            scope.spawn(|| gates.iter().for_each(Gate::open));
            for gate in &gates {
                let barrier = queue.submit_barrier(std::slice::from_ref(&gate.event));
                let barrier = barrier.unwrap();
                let kernel = kernel("add_one");
                let submitted = queue.submit(|cg| {
                    cg.depends_on(&[barrier, gate.event.clone()]);
                    let a = cg.access(&buffer, ReadWrite)?;
                    cg.parallel_for(&kernel, 16, (&a,))
                });
                submitted.unwrap();
            }
        });
        queue.wait().unwrap();
    }
    assert_eq!(buffer.into_vec().unwrap(), [ROUNDS * EVENTS; 16]);
}

fn scope_borrow() {
    let queue = queue(0);
    let block = usm::Block::<u32, usm::DeviceKind>::device(&queue, 100).unwrap();
    let numbers: Vec<u32> = (0..100).collect();
    let mut back = [0; 50];
    queue
        .scope(|s| s.copy_in(&block, &numbers).map(drop))
        .unwrap();
    queue
        .scope(|s| s.copy_out(&mut back, &block).map(drop))
        .unwrap();
    assert_eq!(back, numbers[..50]);
    let error = queue.scope(|s| s.copy_in(&block, &[0; 101]).map(drop));
    assert_eq!(error.unwrap_err().errc(), Errc::Invalid);
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        queue.scope(|s| -> sycl::Result<()> {
            s.copy_out(&mut back, &block)?;
            panic!("in the scope")
        })
    }));
    assert!(unwound.is_err());
    assert_eq!(back, numbers[..50]);
}

/// Nothing was submitted, and no lock is held.
fn a_group_that_panics() {
    let in_order = Queue::builder().device(&devices()[0]).in_order();
    for queue in [queue(0), in_order.build().unwrap()] {
        let buffer = Buffer::from_vec(vec![1i32; 16], 16).unwrap();
        let fresh = Buffer::<i32>::new(16).unwrap();
        let log = Log::start();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            queue.submit(|cg| {
                cg.access(&buffer, ReadWrite)?;
                cg.access(&fresh, ReadWrite)?;
                panic!("in the group")
            })
        }));
        assert!(unwound.is_err());
        let calls = log.0.calls();
        let mut calls = calls.iter().map(|call| call.function);
        assert_eq!(
            calls.find(|name| name.contains("Append") || name.contains("MemAlloc")),
            None
        );
        drop(log);
        add_one(&queue, &buffer).unwrap();
        add_one(&queue, &fresh).unwrap();
        queue.wait().unwrap();
        assert_eq!(buffer.into_vec().unwrap(), [2; 16]);
    }
}

fn from_iterator() {
    let odd = Buffer::from_iterator((0..10).filter(|n| n % 2 == 1)).unwrap();
    assert_eq!(odd.range(), sycl::Range([5]));
    assert_eq!(odd.into_vec().unwrap(), [1, 3, 5, 7, 9]);
    let none = Buffer::<u8>::from_iterator([]).unwrap();
    assert_eq!(none.into_vec().unwrap(), [0u8; 0]);
}

/// Setting a kernel's arguments and appending its launch is done by one thread at a time.
fn one_queue_and_kernel_by_many_threads() {
    const ROUNDS: i32 = 250;
    let (queue, add_one) = (queue(0), kernel("add_one"));
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (queue, add_one) = (&queue, &add_one);
            scope.spawn(move || {
                let own = Buffer::from_slice(&[thread; 16], 16).unwrap();
                for _ in 0..ROUNDS {
                    let submitted = queue.submit(|cg| {
                        let a = cg.access(&own, ReadWrite)?;
                        cg.parallel_for(add_one, 16, (&a,))
                    });
                    submitted.unwrap();
                }
                assert_eq!(own.into_vec().unwrap(), [thread + ROUNDS; 16]);
            });
        }
    });
}
