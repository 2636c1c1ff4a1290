//! What is made anew after a device was lost, and what says only then that it is lost: what was under way or made before.

use std::cell::RefCell;
use std::rc::Rc;

use level_zero::sys::*;
use sycl::{
    Context, Event, Executable, ExecutableGraph, Graph, Kernel, KernelBundle, Queue, ReadWrite,
    Submission, usm,
};

use crate::copies::{Made, while_made};
use crate::groups::paged;
use crate::losses::losing;
use crate::lost::{LOST, bundle_in, code_of};
use crate::native::{foreign, kernel_in};
use crate::waits::{Sticks, stick};
use crate::world::{Gate, Log, devices, is_running};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "what_was_begun_before_a_loss_ends_nothing_made_anew",
        Where::Everywhere,
        begun_before,
    ),
    (
        "what_was_made_before_a_loss_ends_nothing_made_anew",
        Where::Everywhere,
        made_before,
    ),
    (
        "who_waited_before_a_loss_ends_nothing_made_anew",
        Where::Everywhere,
        waited_before,
    ),
    (
        "a_lane_for_copies_made_during_a_loss_is_made_anew",
        Where::Discrete,
        a_lane_for_copies,
    ),
];

/// To the first device.
fn queue_in(context: &Context) -> Queue {
    let queue = Queue::builder().context(context).device(&devices()[0]);
    queue.submission(Submission::Immediate).build().unwrap()
}

/// The first device is lost.
fn lose(context: &Context) {
    let (queue, gate) = (queue_in(context), Gate::of(context));
    let event = queue.submit_barrier(std::slice::from_ref(&gate.event));
    {
        let _log = losing();
        assert_eq!(code_of(event.unwrap().wait()), LOST);
    }
    gate.open();
}

/// A queue that is made after a loss, with something on it.
struct Anew {
    queue: Queue,
    gate: Gate,
    event: Event,
}

impl Anew {
    fn of(context: &Context) -> Self {
        let (queue, gate) = (queue_in(context), Gate::of(context));
        let event = queue.submit_barrier(std::slice::from_ref(&gate.event));
        let event = event.unwrap();
        Self { queue, gate, event }
    }

    fn goes_on(self, what: &str) {
        assert!(is_running(&self.event), "{what}");
        self.gate.open();
        self.event.wait().unwrap();
        self.queue.submit_barrier(&[]).unwrap().wait().unwrap();
    }
}

/// A list and memory of the device, which somebody else finds lost meanwhile.
fn begun_before() {
    type Make = fn(&Queue) -> Option<ze_result_t>;
    let cases: [(Made, Make); 2] = [
        (Made::List, |queue| {
            let (context, device) = (queue.context(), queue.device());
            let queue = Queue::builder().context(&context).device(&device);
            code_of(queue.submission(Submission::Immediate).build())
        }),
        (Made::Memory, |queue| {
            code_of(usm::Block::<i32, usm::DeviceKind>::device(queue, 4))
        }),
    ];
    for (made, make) in cases {
        let (context, _) = foreign();
        let queue = queue_in(&context);
        let anew = Rc::new(RefCell::new(None));
        let made_anew = Rc::clone(&anew);
        while_made(made, move || {
            lose(&context);
            *made_anew.borrow_mut() = Some(Anew::of(&context));
            ZE_RESULT_ERROR_DEVICE_LOST
        });
        assert_eq!(make(&queue), LOST, "{made:?}");
        let anew = anew.take().unwrap();
        anew.goes_on(&format!("{made:?}"));
    }
}

struct Old {
    bundle: KernelBundle<Executable>,
    kernel: Kernel,
    graph: ExecutableGraph,
}

/// Code and graphs: whoever uses them is told, and nobody else.
fn made_before() {
    type Ask = fn(&Old, &Queue) -> Option<ze_result_t>;
    let cases: [(&str, Ask); 3] = [
        ("zeKernelCreate", |old, _| {
            code_of(old.bundle.kernel(c"add_one"))
        }),
        (
            "zeCommandListAppendLaunchKernelWithArguments",
            |old, queue| {
                let buffer = paged();
                code_of(queue.submit(|cg| {
                    let a = cg.access(&buffer, ReadWrite)?;
                    cg.parallel_for(&old.kernel, 16, (&a,))
                }))
            },
        ),
        (
            "zeCommandListImmediateAppendCommandListsExp",
            |old, queue| code_of(queue.submit_graph(&old.graph, &[])),
        ),
    ];
    for (function, ask) in cases {
        let (context, _) = foreign();
        let bundle = bundle_in(&context);
        let kernel = bundle.kernel(c"add_one").unwrap();
        let graph = Graph::new(&queue_in(&context)).finalize().unwrap();
        let old = Old {
            bundle,
            kernel,
            graph,
        };
        lose(&context);
        let anew = Anew::of(&context);
        {
            let log = Log::with(&format!("fail {function} DEVICE_LOST"));
            assert_eq!(ask(&old, &anew.queue), LOST, "{function}");
            assert_eq!(log.count(function), 1, "{function}");
        }
        anew.goes_on(function);
    }
}

/// A thread that comes back from its wait only when all is made anew.
fn waited_before() {
    let (context, _) = foreign();
    let (queue, gate) = (queue_in(&context), Gate::of(&context));
    let event = queue.submit_barrier(std::slice::from_ref(&gate.event));
    let event = event.unwrap();
    std::thread::scope(|scope| {
        let sticks = Sticks::new();
        let waiter = scope.spawn(|| {
            stick(ZE_RESULT_ERROR_DEVICE_LOST);
            assert_eq!(code_of(event.wait()), LOST);
        });
        gate.open();
        sticks.event();
        lose(&context);
        let anew = Anew::of(&context);
        drop(sticks);
        waiter.join().unwrap();
        anew.goes_on("a wait");
    });
}

/// Its list may be one of those that are lost, and nothing is put on it any more.
fn a_lane_for_copies() {
    let (context, _) = foreign();
    let kernel = kernel_in(&context, &devices()[0]);
    let add_one = |queue: &Queue| {
        let buffer = paged();
        let submitted = queue.submit(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&kernel, 16, (&a,))
        });
        submitted?.wait()?;
        buffer.into_vec()
    };
    let queue = queue_in(&context);
    let lost = context.clone();
    while_made(Made::List, move || {
        lose(&lost);
        ZE_RESULT_SUCCESS
    });
    assert_eq!(code_of(add_one(&queue)), LOST);
    let queue = queue_in(&context);
    let log = Log::start();
    assert_eq!(add_one(&queue).unwrap(), [1; 16]);
    assert_eq!(log.count("zeCommandListCreateImmediate"), 1);
}
