//! What the environment's variables do, each asked in a process of its own.

use std::process::Command;

use sycl::interop::{NativeQueue, get_native};
use sycl::{Buffer, Event, EventStatus, Queue, Submission, Write};

use crate::world::{Gate, Log, devices, is_running};
use crate::{Test, WORLD, Where};

pub(crate) const TESTS: &[Test] = &[("t22_variables_are_honoured", Where::Host, honoured)];

/// A group on a buffer of its own, held back by an event if there is one.
fn alone(queue: &Queue, after: &[Event]) -> Event {
    let buffer = Buffer::<i32>::new(16).unwrap();
    let submitted = queue.submit(|cg| {
        cg.depends_on(after);
        let _a = cg.access(&buffer, Write.no_init())?;
        cg.barrier()
    });
    submitted.unwrap()
}

/// In a process of its own: what it is like, a fact on a line.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn tell() {
    crate::world::enter();
    println!("page {}", Buffer::<u8>::new(1000).unwrap().page_size()[2]);
    let log = Log::start();
    let queue = Queue::builder().device(&devices()[0]).build().unwrap();
    let lists = || log.count("zeCommandListCreateImmediate");
    println!("lists of a new queue {}", lists());
    let kind = match get_native(&queue) {
        NativeQueue::CommandQueue(_) => "command queue",
        NativeQueue::ImmediateList(_) => "immediate list",
    };
    println!("native {kind}");
    let event = alone(&queue, &[]);
    // Asking is what brings a list that is being recorded to the device: only the first answer counts.
    if std::env::var("UR_L0_SERIALIZE").is_ok_and(|value| value == "2") {
        println!("ended {}", event.status() == EventStatus::Complete);
        return;
    }
    event.wait().unwrap();
    let gate = Gate::new();
    let held = std::slice::from_ref(&gate.event);
    let mut events: Vec<Event> = (0..24).map(|_| alone(&queue, held)).collect();
    println!("lists of a busy queue {}", lists());
    std::thread::scope(|scope| {
        let other = scope.spawn(|| alone(&queue, held));
        events.push(other.join().unwrap());
    });
    println!("lists of two threads {}", lists());
    assert!(events.iter().all(is_running));
    let recorded = Queue::builder().device(&devices()[0]).in_order();
    let recorded = recorded.submission(Submission::Batched).build().unwrap();
    let before = log.count("zeCommandQueueExecuteCommandLists");
    events.push(alone(&recorded, held));
    (0..11).for_each(|_| events.push(alone(&recorded, &[])));
    let executed = log.count("zeCommandQueueExecuteCommandLists") - before;
    println!("executed {executed}");
    gate.open();
    Event::wait_all(&events).unwrap();
}

/// Variables with their values, and lines that [`tell`] prints under them.
type Case = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

fn honoured() {
    const NEWER: &str = "UR_L0_USE_IMMEDIATE_COMMANDLISTS";
    const OLDER: &str = "SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS";
    let cases: &[Case] = &[
        (
            &[],
            &[
                "page 1000",
                "lists of a new queue 1",
                "native immediate list",
                "lists of a busy queue 4",
                "lists of two threads 4",
            ],
        ),
        (&[("SOLUM_SYCL_PAGE", "256")], &["page 256"]),
        (&[("SOLUM_SYCL_LANES", "2")], &["lists of a busy queue 2"]),
        (&[("SOLUM_SYCL_LANES", "7")], &["lists of a busy queue 7"]),
        (&[("UR_L0_EAGER_INIT", "1")], &["lists of a new queue 4"]),
        (&[("UR_L0_SERIALIZE", "2")], &["ended true"]),
        (&[("UR_L0_BATCH_SIZE", "3")], &["executed 4"]),
        (&[("UR_L0_BATCH_SIZE", "5")], &["executed 2"]),
        (&[("SYCL_PI_LEVEL_ZERO_BATCH_SIZE", "6")], &["executed 2"]),
        (
            &[(NEWER, "0")],
            &["native command queue", "lists of a new queue 0"],
        ),
        (&[(OLDER, "0")], &["native command queue"]),
        (&[(NEWER, "1"), (OLDER, "0")], &["native immediate list"]),
        (&[(NEWER, "nonsense")], &["native command queue"]),
        (
            &[(NEWER, "2")],
            &[
                "native immediate list",
                "lists of a busy queue 1",
                "lists of two threads 2",
            ],
        ),
        // An engine that the device has not is no wish that can be granted.
        (
            &[("UR_L0_USE_COMPUTE_ENGINE", "77")],
            &["lists of a new queue 1"],
        ),
    ];
    for (variables, facts) in cases {
        let output = Command::new(std::env::current_exe().unwrap())
            .env(WORLD, "tell")
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{variables:?}: {out}{err}");
        for fact in *facts {
            assert!(
                out.lines().any(|line| line == *fact),
                "{variables:?}: no `{fact}` in\n{out}"
            );
        }
    }
}
