//! Leaks: memory after many tasks, and Level Zero objects at the end of a program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};

use sycl::{
    Buffer, Event, ImageFormat, KernelBundle, Platform, Queue, Read, ReadWrite, Submission,
    UnsampledImage, Write, usm,
};

use crate::groups::{paged, submit_add_one};
use crate::order::access;
use sycl::interop::{BufferInput, NativeQueue, Ownership, get_native, make_buffer_1d, make_queue};

use crate::native::{host_memory, input, new_list};
use crate::world::{Gate, Log, argument, call, devices, kernel, queue, words};
use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[
    ("tasks_leak_nothing", Where::Everywhere, tasks_leak_nothing),
    (
        "host_tasks_leak_nothing",
        Where::Everywhere,
        host_tasks_leak_nothing,
    ),
    ("copies_leak_nothing", Where::Discrete, copies_leak_nothing),
    (
        "a_chain_of_events_drops_ended_ones",
        Where::Everywhere,
        a_chain_of_events_drops_ended_ones,
    ),
    (
        "a_long_chain_of_events_is_dropped",
        Where::Everywhere,
        a_long_chain_of_events_is_dropped,
    ),
    (
        "host_readers_are_dropped",
        Where::Everywhere,
        host_readers_are_dropped,
    ),
    (
        "a_kept_event_keeps_no_other",
        Where::Everywhere,
        a_kept_event_keeps_no_other,
    ),
    (
        "an_unpolled_queue_keeps_no_events",
        Where::Everywhere,
        an_unpolled_queue_keeps_no_events,
    ),
    ("leaks_env", Where::Everywhere, leaks_env),
];

/// The system's allocator, counting live blocks and bytes of this program, the runtime and the driver inside it.
struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

fn count(blocks: i64, bytes: i64) {
    LIVE.fetch_add(blocks, Ordering::Relaxed);
    BYTES.fetch_add(bytes, Ordering::Relaxed);
}

// SAFETY: every call is the system allocator's own with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-1, -(layout.size() as i64));
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(0, size as i64 - layout.size() as i64);
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Repeats a run of this many tasks until one keeps fewer blocks than half their number. Blocks that are allocated
/// once, or for objects that happen to be alive at the same time, stop growing; a block for every other task does not.
fn leaves_nothing(tasks: usize, run: impl Fn(usize)) {
    let mut left = 0;
    for _ in 0..10 {
        let before = LIVE.load(Ordering::Relaxed);
        run(tasks);
        left = LIVE.load(Ordering::Relaxed) - before;
        if left < tasks as i64 / 2 {
            return;
        }
    }
    panic!("{left} blocks are left of each {tasks} tasks");
}

/// Chains and forks.
fn tasks_leak_nothing() {
    let (queue, add_one, add) = (queue(0), kernel("add_one"), kernel("add"));
    let [a, b, c] = [0; 3].map(|_| Buffer::from_slice(&[0i32; 16], 16).unwrap());
    let part = |buffer: &Buffer<'_, i32>, first: usize| {
        let submitted = queue.submit(|cg| {
            let part = cg.access_ranged(buffer, ReadWrite, 4, first)?;
            cg.parallel_for(&add_one, 4, (&part,))
        });
        submitted.unwrap()
    };
    leaves_nothing(6_000, |tasks| {
        for round in 0..tasks / 3 {
            part(&a, 0);
            let other: Event = part(&b, 4 * (round % 4));
            queue
                .submit(|cg| {
                    cg.depends_on(std::slice::from_ref(&other));
                    let (a, b) = (cg.access(&a, Read)?, cg.access(&b, Read)?);
                    let c = cg.access(&c, Write.no_init())?;
                    cg.parallel_for(&add, 16, (&a, &b, &c))
                })
                .unwrap();
            // Few are alive at the same time, so that memory does not depend on the machine's speed.
            match round % 20 {
                0 => drop(c.host_access(Read).unwrap()),
                10 => queue.wait().unwrap(),
                _ => {}
            }
        }
        queue.wait().unwrap();
    });
}

/// Each copy is kept until it is known to have ended.
fn copies_leak_nothing() {
    let (first, second, buffer) = (queue(0), queue(1), paged());
    access(&second, &buffer, 0, (0, 16), &[]);
    leaves_nothing(2_000, |tasks| {
        for round in 0..tasks {
            access(&first, &buffer, 3, (4 * (round % 4), 4), &[]);
            let log = (round == 0).then(Log::start);
            let reader = access(&second, &buffer, 0, (0, 16), &[]);
            if let Some(log) = log {
                assert_eq!(log.copies().len(), 2);
            }
            if round % 20 == 0 {
                reader.wait().unwrap();
            }
        }
        second.wait().unwrap();
    });
}

/// Host tasks and work that waits for them: each has a pending command, a closure and an event.
fn host_tasks_leak_nothing() {
    let (queue, a) = (queue(0), Buffer::from_slice(&[0i32; 16], 16).unwrap());
    leaves_nothing(6_000, |tasks| {
        for round in 0..tasks {
            let task = queue.submit(|cg| {
                let view = cg.host_task_access(&a, ReadWrite)?;
                cg.host_task((view,), |_, (mut view,)| {
                    view.as_mut_slice()[0] = 0;
                    Ok(())
                })
            });
            task.unwrap();
            submit_add_one(&queue, &a, &[]);
            if round % 5 == 0 {
                queue.wait().unwrap();
            }
        }
        queue.wait().unwrap();
    });
}

/// Each command depends on the previous one, as in programs over USM.
fn a_chain_of_events_drops_ended_ones() {
    let queue = queue(0);
    let last = std::cell::RefCell::new(Event::default());
    leaves_nothing(6_000, |tasks| {
        for round in 0..tasks {
            let next = queue.submit_barrier(&[last.take()]).unwrap();
            if round % 20 == 0 {
                next.wait().unwrap();
            }
            last.replace(next);
        }
    });
    last.take().wait().unwrap();
}

/// The last event keeps a chain that is longer than a recursive drop's stack.
fn a_long_chain_of_events_is_dropped() {
    let (queue, gate) = (queue(0), Gate::new());
    let mut last = gate.event.clone();
    for _ in 0..100_000 {
        last = queue.submit_barrier(&[last]).unwrap();
    }
    assert_eq!(last.wait_list().len(), 1);
    drop(last);
    gate.open();
    queue.wait().unwrap();
}

/// The host reads a buffer repeatedly, and no command writes it.
fn host_readers_are_dropped() {
    let buffer = Buffer::from_slice(&[7i32; 16], 16).unwrap();
    let read = || assert_eq!(buffer.host_access(Read).unwrap()[15], 7);
    (0..1_000).for_each(|_| read());
    let before = BYTES.load(Ordering::Relaxed);
    (0..40_000).for_each(|_| read());
    let grown = BYTES.load(Ordering::Relaxed) - before;
    assert!(grown < 40_000, "{grown} bytes more");
}

/// Runs commands of a queue one after another, each waited for. Returns how many native events are created.
fn events_made(queue: &Queue, commands: usize) -> usize {
    let log = Log::start();
    for _ in 0..commands {
        queue.submit_barrier(&[]).unwrap().wait().unwrap();
    }
    log.count("zeEventCreate")
}

fn in_order() -> Queue {
    let queue = Queue::builder().device(&devices()[0]).in_order();
    queue.build().unwrap()
}

/// A program may keep an event whose native handle it requested for any time.
fn a_kept_event_keeps_no_other() {
    let (queue, gate) = (in_order(), Gate::new());
    let event = queue
        .submit_barrier(std::slice::from_ref(&gate.event))
        .unwrap();
    let native = get_native(&event);
    gate.open();
    event.wait().unwrap();
    let made = events_made(&queue, 2_000);
    assert!(made < 200, "{made} events");
    // It still belongs to this command, even after the queue is dropped.
    drop(queue);
    call!(event.pfnQueryStatus(native));
    let log = Log::start();
    drop(event);
    let destroyed = log.calls("zeEventDestroy");
    let address = native.addr() as u64;
    assert!(
        destroyed
            .iter()
            .any(|call| argument(call, "hEvent") == address)
    );
}

/// A command of another queue waited for one of this queue, which is never polled.
fn an_unpolled_queue_keeps_no_events() {
    let (queue, other, gate) = (in_order(), in_order(), Gate::new());
    let first = queue
        .submit_barrier(std::slice::from_ref(&gate.event))
        .unwrap();
    let second = other.submit_barrier(std::slice::from_ref(&first)).unwrap();
    gate.open();
    let made = events_made(&queue, 2_000);
    assert!(made < 200, "{made} events");
    second.wait().unwrap();
}

/// Runs in a separate process: uses a bit of everything and, if requested, leaks a queue.
pub(crate) fn program() {
    crate::world::enter();
    let platform = Platform::all().unwrap()[0];
    let context = platform.default_context().unwrap();
    // SAFETY: the kernels stay inside what is passed here.
    let input = unsafe { KernelBundle::from_spirv(&context, &devices(), &words()) };
    let add_one = input
        .unwrap()
        .build(c"")
        .unwrap()
        .kernel(c"add_one")
        .unwrap();
    for submission in [Submission::Immediate, Submission::Batched] {
        let queue = Queue::builder()
            .device(&devices()[0])
            .submission(submission);
        let queue = queue.build().unwrap();
        let buffer = Buffer::from_slice(&[1i32; 64], 64).unwrap();
        let image = UnsampledImage::<2>::new(ImageFormat::R8G8B8A8_UNORM, [4, 4]).unwrap();
        let block = usm::Block::<i32, usm::SharedKind>::shared(&queue, 64).unwrap();
        for _ in 0..300 {
            let submitted = queue.submit(|cg| {
                let a = cg.access(&buffer, ReadWrite)?;
                let _image = cg.image(&image, Write.no_init())?;
                cg.parallel_for(&add_one, 64, (&a,))
            });
            submitted.unwrap();
            queue
                .submit(|cg| cg.parallel_for(&add_one, 64, (&block,)))
                .unwrap();
        }
        assert_eq!(buffer.host_access(Read).unwrap()[63], 301);
        adopt(&queue);
        if std::env::var("SOLUM_TEST_LEAK").is_ok() {
            queue.wait().unwrap();
            std::mem::forget(queue);
        }
    }
}

/// Handles that the program transfers: accepted ones are counted, rejected ones are not.
fn adopt(queue: &Queue) {
    let device = queue.device();
    let context = sycl::Context::new(std::slice::from_ref(&device)).unwrap();
    let list = NativeQueue::ImmediateList(new_list(&context, &device, 0));
    let memory = host_memory(&context, 64);
    let transfer = Ownership::Transfer;
    let of_memory = || BufferInput {
        native_handle: memory,
        ownership: transfer,
    };
    // SAFETY: live handles that only the runtime uses from here on; the second time each is refused.
    unsafe {
        let made = make_queue(input(list, &device, transfer), &context).unwrap();
        make_queue(input(list, &device, transfer), &context).unwrap_err();
        let buffer = make_buffer_1d::<i32>(of_memory(), &context, None).unwrap();
        make_buffer_1d::<i32>(of_memory(), &context, None).unwrap_err();
        fill(&made, &buffer);
    }
}

fn fill(queue: &Queue, buffer: &Buffer<'_, i32>) {
    let filled = queue.submit(|cg| {
        let a = cg.access(buffer, ReadWrite)?;
        cg.fill(&a, 7)
    });
    filled.unwrap().wait().unwrap();
}

fn leaks_env() {
    let run = |variables: &[(&str, &str)]| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.env(WORLD, "leaks").envs(variables.iter().copied());
        let output = program.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        text
    };
    assert_eq!(run(&[]), "");
    let clean = run(&[("UR_L0_LEAKS_DEBUG", "1")]);
    for kind in [
        "context",
        "command queue",
        "command list",
        "event",
        "module",
        "kernel",
        "memory",
    ] {
        assert!(clean.contains(&format!("\n  {kind}: ")), "{kind}: {clean}");
    }
    assert!(
        !clean.contains("LEAK\n") && !clean.trim_end().ends_with("LEAK"),
        "{clean}"
    );
    let leaking = run(&[("UR_L0_LEAKS_DEBUG", "1"), ("SOLUM_TEST_LEAK", "1")]);
    let leaks: Vec<&str> = leaking
        .lines()
        .filter(|line| line.ends_with(": LEAK"))
        .collect();
    assert!(
        leaks
            .iter()
            .any(|line| line.starts_with("  command queue: ")),
        "{leaking}"
    );
    assert!(
        leaks
            .iter()
            .any(|line| line.starts_with("  context: 1 made, 0")),
        "{leaking}"
    );
    assert!(
        !leaks.iter().any(|line| line.starts_with("  memory")),
        "{leaking}"
    );
}
