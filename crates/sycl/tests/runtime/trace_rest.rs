//! Notifications to tools about failed work, copies between devices, and operations that the other traced program
//! lacks; and the rules that all notifications follow, whatever the golden logs say.

use std::collections::HashMap;
use std::sync::mpsc;

use sycl::{Buffer, EventStatus, Graph, Plus, Queue, Read, ReadWrite, Reduction, Write};

use crate::trace::{golden, of_stream, run, run_program};
use crate::{Test, Where, world};

pub(crate) const TESTS: &[Test] = &[(
    "golden_log_of_failures_and_copies",
    Where::Host,
    golden_rest,
)];

/// A separate program: a failing task and a command after it, a buffer on two devices, USM operations, a graph that is
/// submitted twice, a reduction.
pub(crate) fn rest() {
    sycl::use_entry(ze_cpu::entry()).unwrap();
    let devices = world::devices();
    let queue = |number: usize| {
        let queue = Queue::builder().device(&devices[number]).in_order();
        queue.async_handler(|_| ()).build().unwrap()
    };
    let queues = [queue(0), queue(1)];
    let a = Buffer::from_slice(&[1u32; 64], [64]).unwrap();
    a_task_fails(&queues[0], &a);
    drop(queues[0].wait_and_throw());
    let b = Buffer::from_slice(&[1u32; 64], [64]).unwrap();
    let add = world::kernel("add_one");
    for queue in &queues {
        let added = queue.submit(|cg| {
            let b = cg.access(&b, ReadWrite)?;
            cg.parallel_for(&add, [64], (&b,))
        });
        added.unwrap().wait().unwrap();
    }
    drop(b.host_access(Read).unwrap());
    drop(b);
    let block = sycl::usm::Block::<u32, sycl::usm::DeviceKind>::device(&queues[0], 64).unwrap();
    // SAFETY: the block lives until each is waited for.
    unsafe {
        let (first, second) = (block.as_ptr(), block.as_ptr().wrapping_add(32));
        let set = queues[0].memset(first.cast(), 1, 128, &[]).unwrap();
        set.wait().unwrap();
        let filled = queues[0].fill(second, 7, 32, &[]).unwrap();
        filled.wait().unwrap();
        let copied = queues[0].memcpy(first.cast(), second.cast(), 128, &[]);
        copied.unwrap().wait().unwrap();
    }
    drop(block);
    let c = Buffer::from_slice(&[1u32; 64], [64]).unwrap();
    let mut graph = Graph::new(&queues[0]);
    for value in [7, 8] {
        let added = graph.add(|cg| {
            let c = cg.access(&c, Write.no_init())?;
            cg.fill(&c, value)
        });
        added.unwrap();
    }
    let graph = graph.finalize().unwrap();
    for _ in 0..2 {
        queues[0].submit_graph(&graph, &[]).unwrap().wait().unwrap();
    }
    drop((graph, c));
    let (values, sum) = (
        Buffer::from_slice(&[2i32; 64], [64]).unwrap(),
        Buffer::from_slice(&[1i32], [1]).unwrap(),
    );
    let reduced = queues[0].reduce(&values, Reduction::new(&sum, Plus));
    reduced.unwrap().wait().unwrap();
}

/// Work after a failed task is cancelled. No two threads notify at the same time.
fn a_task_fails(queue: &Queue, buffer: &Buffer<'_, u32>) {
    let (entered, has_entered) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let task = queue.submit(|cg| {
        let view = cg.host_task_access(buffer, ReadWrite)?;
        cg.host_task((view,), move |_, _| {
            let _ = entered.send(());
            let _ = gone.recv();
            Err(sycl::Error::new(sycl::Errc::Runtime, "no paper"))
        })
    });
    let task = task.unwrap();
    has_entered.recv().unwrap();
    let behind = queue.submit(|cg| {
        let a = cg.access(buffer, Read)?;
        cg.update_host(&a)
    });
    let behind = behind.unwrap();
    go.send(()).unwrap();
    // Polling does not notify; when both have failed, the task's thread has sent all notifications.
    for event in [&task, &behind] {
        while event.status() != EventStatus::Failed {
            std::thread::yield_now();
        }
    }
    behind.wait().unwrap_err();
    task.wait().unwrap_err();
}

fn golden_rest() {
    let said = run(&[]);
    well_formed(&of_stream(&said, "sycl"));
    buffers_live_once(&of_stream(&said, "sycl.experimental.buffer"));
    for program in ["traced", "traced rest"] {
        let said = run_program(program, &[("PRINT_EVENTS_THREADS", "1")]);
        begins_and_ends_on_one_thread(&of_stream(&said, "sycl"));
    }
    for (form, compatible) in [("", ""), (".dpcpp", "dpcpp")] {
        let log = run_program("traced rest", &[("SOLUM_XPTI_COMPAT", compatible)]);
        for (stream, name) in [
            ("sycl", "rest.sycl"),
            ("sycl.experimental.buffer", "rest.buffer"),
        ] {
            let said = of_stream(&log, stream);
            golden(&format!("{name}{form}.txt"), &said);
            match stream {
                "sycl" => well_formed(&said),
                _ => buffers_live_once(&said),
            }
        }
    }
}

/// Except for barriers, which end on the thread that starts the command.
fn begins_and_ends_on_one_thread(said: &str) {
    let mut open = HashMap::<(&str, &str), Vec<&str>>::new();
    let (mut kind, mut thread, mut pairs) = ("", "", 0);
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix("sycl ") {
            kind = rest.split(' ').next().unwrap();
        } else if let Some(number) = line.trim().strip_prefix("thread ") {
            thread = number;
        } else if let Some(event) = line.trim().strip_prefix("event ") {
            if let Some(what) = kind.strip_suffix("_begin") {
                open.entry((what, event)).or_default().push(thread);
            } else if let Some(what) = kind.strip_suffix("_end") {
                let began = open.get_mut(&(what, event)).and_then(Vec::pop).unwrap();
                assert!(began == thread || what == "barrier", "{what} of {event}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 10, "{pairs} of them");
}

/// Each begin has exactly one end; the node of a task or an edge was reported before.
fn well_formed(said: &str) {
    let (mut nodes, mut open) = (Vec::new(), HashMap::<(&str, &str), usize>::new());
    let (mut kind, mut event) = ("", "");
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix("sycl ") {
            kind = rest.split(' ').next().unwrap();
            continue;
        }
        if let Some((from, to)) = line.trim().split_once(" -> ") {
            assert_eq!(kind, "edge_create", "{line}");
            for end in [from, to] {
                assert!(nodes.contains(&end), "{event}: no node {end} yet");
            }
        }
        let Some(described) = line.trim().strip_prefix("event ") else {
            continue;
        };
        event = described;
        let id = event.split("uid=").nth(1).unwrap_or_default();
        let id = id.split(' ').next().unwrap();
        if kind == "node_create" {
            nodes.push(id);
        }
        if let Some(what) = kind.strip_suffix("_begin") {
            assert!(
                what != "task" || nodes.contains(&id),
                "{event} before its node"
            );
            *open.entry((what, event)).or_default() += 1;
        } else if let Some(what) = kind.strip_suffix("_end") {
            let left = open.get_mut(&(what, event)).filter(|left| **left > 0);
            let Some(left) = left else {
                panic!("{what} of {event} ends before it begins");
            };
            *left -= 1;
        }
    }
    open.retain(|_, left| *left > 0);
    assert!(open.is_empty(), "never ends: {open:?}");
    assert!(!nodes.is_empty());
}

/// The creation and destruction of a buffer are reported once; in between, no more of its memory is freed than was
/// allocated.
fn buffers_live_once(said: &str) {
    let mut alive = HashMap::<&str, usize>::new();
    let mut ended = 0;
    for line in said.lines() {
        let Some(rest) = line.strip_prefix("sycl.experimental.buffer offload_alloc_") else {
            continue;
        };
        let mut words = rest.split(' ');
        let (what, buffer) = (words.next().unwrap(), words.next().unwrap());
        let memories = alive.get_mut(buffer);
        match (what, memories) {
            ("construct", None) => drop(alive.insert(buffer, 0)),
            ("associate", Some(memories)) => *memories += 1,
            ("release", Some(memories)) if *memories > 0 => *memories -= 1,
            ("accessor", Some(_)) => {}
            ("destruct", Some(_)) => {
                alive.remove(buffer);
                ended += 1;
            }
            (_, known) => panic!("{line}: {known:?}"),
        }
    }
    assert!(alive.is_empty() && ended > 0, "{alive:?}, {ended} ended");
}
