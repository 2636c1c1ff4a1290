//! What is left behind: memory after many tasks, Level Zero's objects at the end of a program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicI64, Ordering};

use sycl::{
    Buffer, Event, ImageFormat, KernelBundle, Platform, Queue, Read, ReadWrite, Submission,
    UnsampledImage, Write, usm,
};

use crate::groups::submit_add_one;
use crate::world::{devices, kernel, queue, words};
use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "tasks_leave_nothing_behind",
        Where::Everywhere,
        tasks_leave_nothing_behind,
    ),
    (
        "host_tasks_leave_nothing_behind",
        Where::Everywhere,
        host_tasks_leave_nothing_behind,
    ),
    ("t105_leaks_env", Where::Everywhere, leaks_env),
];

/// The system's allocator, with the blocks counted that live: of this program, the runtime, and the driver inside it.
struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call is the system allocator's own with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs so many tasks again and again until a run keeps fewer blocks than half of them. What is made once, and what those
/// need that happen to be alive at once, comes to an end; a block for every other task does not.
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
fn tasks_leave_nothing_behind() {
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
            // Few live at once, so that what they need does not depend on the machine's pace.
            match round % 20 {
                0 => drop(c.host_access(Read).unwrap()),
                10 => queue.wait().unwrap(),
                _ => {}
            }
        }
        queue.wait().unwrap();
    });
}

/// Tasks on the host and what waits for them: each has a ticket, a closure, an event.
fn host_tasks_leave_nothing_behind() {
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

/// In a process of its own: something of everything, and, if it is asked for, a queue that is never dropped.
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
        if std::env::var("SOLUM_TEST_LEAK").is_ok() {
            queue.wait().unwrap();
            std::mem::forget(queue);
        }
    }
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
