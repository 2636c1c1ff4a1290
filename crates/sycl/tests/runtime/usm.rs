//! Freeing USM while work that may use it is unfinished: it is freed when that has ended, whether the work has begun,
//! waits for an event on the device, or is on no list yet because the host defers it.

use std::sync::mpsc;

use sycl::{Buffer, Event, EventStatus, Kernel, KernelBundle, Queue, ReadWrite, Val, usm};

use crate::native::foreign;
use crate::world::{Gate, Log, devices, is_running, words};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "usm_is_freed_after_all_that_was_submitted",
        Where::Everywhere,
        freed_after_submitted_work,
    ),
    (
        "unused_usm_is_freed_at_once",
        Where::Everywhere,
        freed_at_once,
    ),
];

type Block = usm::Block<i32, usm::HostKind>;

/// A queue in a separate context, because work that other tests left forever may use memory of theirs; and the kernel
/// that [`write`] runs.
fn alone() -> (Queue, Kernel) {
    let (context, _) = foreign();
    let device = [devices()[0].clone()];
    // SAFETY: the tests' kernels.
    let made = unsafe { KernelBundle::from_spirv(&context, &device, &words()) };
    let set = made.unwrap().build(c"").unwrap().kernel(c"set_from");
    let queue = Queue::builder().context(&context).device(&device[0]);
    (queue.build().unwrap(), set.unwrap())
}

/// A kernel that writes 7 to all of `target` although its only argument is the block before: the arguments of `kernel`
/// do not show which memory it uses.
fn write(
    (queue, set): (&Queue, &Kernel),
    named: &Block,
    reached: &Block,
    after: &[Event],
) -> Event {
    let (from, to) = (named.as_ptr().addr(), reached.as_ptr().addr());
    let distance = to.wrapping_sub(from) / size_of::<i32>();
    let submitted = queue.submit(|cg| {
        cg.depends_on(after);
        cg.parallel_for(set, [reached.len()], (named, Val(distance as u64), Val(7)))
    });
    submitted.unwrap()
}

/// Two blocks, the one at the lower address first.
fn two(queue: &Queue) -> (Block, Block) {
    let block = || Block::host(queue, 16).unwrap();
    let (one, other) = (block(), block());
    match one.as_ptr() < other.as_ptr() {
        true => (one, other),
        false => (other, one),
    }
}

/// The reason why a command waits.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Holder {
    Event,
    HostAccessor,
    HostTask,
}

fn freed_after_submitted_work() {
    for holder in [Holder::Event, Holder::HostAccessor, Holder::HostTask] {
        for raw in [false, true] {
            let what = format!("{holder:?}, {raw}");
            let (queue, set) = alone();
            let (named, reached) = two(&queue);
            let pointers = [named.as_ptr().addr(), reached.as_ptr().addr()];
            let held = Buffer::<i32>::new(1).unwrap();
            // The program's event is work of the context, so it is polled only if it is the reason.
            let gate = (holder == Holder::Event).then(|| Gate::of(&queue.context()));
            let access =
                (holder == Holder::HostAccessor).then(|| held.host_access(ReadWrite).unwrap());
            let (open, opened) = mpsc::channel::<()>();
            let after = match holder {
                Holder::Event => gate.as_ref().unwrap().event.clone(),
                Holder::HostAccessor => {
                    let waits = queue.submit(|cg| {
                        let _held = cg.access(&held, ReadWrite)?;
                        cg.barrier()
                    });
                    waits.unwrap()
                }
                Holder::HostTask => {
                    let task = queue.submit(|cg| {
                        cg.host_task((), move |_, ()| {
                            let _ = opened.recv();
                            Ok(())
                        })
                    });
                    task.unwrap()
                }
            };
            let written = write((&queue, &set), &named, &reached, &[after]);
            let log = Log::start();
            match raw {
                false => drop((named, reached)),
                // SAFETY: only the command uses them.
                true => unsafe {
                    usm::free(named.into_raw().cast(), &queue.context()).unwrap();
                    usm::free(reached.into_raw().cast(), &queue.context()).unwrap();
                },
            }
            // Each allocation sweeps deferred releases and would free the block.
            (0..100).for_each(|_| drop(Block::host(&queue, 16).unwrap()));
            assert!(is_running(&written), "{what}");
            assert!(pointers.iter().all(|at| log.frees_of(*at) == 0), "{what}");
            gate.iter().for_each(Gate::open);
            drop(access);
            drop(open);
            queue.wait().unwrap();
            assert_eq!(written.status(), EventStatus::Complete, "{what}");
            // A sweep leaves the list to another thread that is sweeping.
            let gone = || pointers.iter().all(|at| log.frees_of(*at) > 0);
            for _ in 0..10_000 {
                if gone() {
                    break;
                }
                queue.wait().unwrap();
                std::thread::yield_now();
            }
            assert!(pointers.iter().all(|at| log.frees_of(*at) == 1), "{what}");
        }
    }
}

fn freed_at_once() {
    let (queue, set) = alone();
    let (named, reached) = two(&queue);
    let pointers = [named.as_ptr().addr(), reached.as_ptr().addr()];
    write((&queue, &set), &named, &reached, &[]).wait().unwrap();
    // SAFETY: the command has ended.
    assert_eq!(unsafe { reached.as_slice() }, [7; 16]);
    let log = Log::start();
    drop((named, reached));
    assert!(pointers.iter().all(|at| log.frees_of(*at) == 1));
}
