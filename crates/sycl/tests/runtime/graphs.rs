//! Command graphs: recorded once, submitted many times.

use sycl::{Buffer, Command, Errc, Error, Graph, Handler, Read, ReadWrite, Write, usm};

use crate::world::{Gate, Log, immediate, is_running, kernel, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("graph_replay", Where::Everywhere, replay),
    (
        "graph_own_contents_are_not_copied",
        Where::Discrete,
        own_contents,
    ),
    (
        "graph_group_reads_what_it_overwrites",
        Where::Discrete,
        reads_what_it_overwrites,
    ),
    ("graph_rejects", Where::Everywhere, refuses),
    (
        "graph_dropped_after_a_failed_submission",
        Where::Everywhere,
        dropped_after_a_failed_submission,
    ),
];

fn replay() {
    let queue = immediate();
    let (add_one, add) = (kernel("add_one"), kernel("add"));
    let a = Buffer::from_vec(vec![0i32; 16], 16).unwrap();
    let sum = Buffer::from_vec(vec![100i32; 16], 16).unwrap();
    let block = usm::Block::<u32, usm::SharedKind>::shared(&queue, 4).unwrap();
    let mut graph = Graph::new(&queue);
    graph
        .add(|cg| {
            let a = cg.access(&a, ReadWrite)?;
            cg.parallel_for(&add_one, 16, (&a,))
        })
        .unwrap();
    graph
        .add(|cg| {
            let (a, sum) = (cg.access(&a, Read)?, cg.access(&sum, ReadWrite)?);
            cg.parallel_for(&add, 16, (&a, &sum, &sum))
        })
        .unwrap();
    let graph = graph.finalize().unwrap();
    let gate = Gate::new();
    let log = Log::start();
    let first = queue
        .submit_graph(&graph, std::slice::from_ref(&gate.event))
        .unwrap();
    let second = queue.submit_graph(&graph, &[]).unwrap();
    assert!(is_running(&first) && is_running(&second));
    gate.open();
    second.wait().unwrap();
    assert_eq!(log.count("zeCommandListAppendLaunchKernelWithArguments"), 0);
    drop(log);
    // The next submission sees the host's change.
    a.host_access(ReadWrite).unwrap()[0] = 10;
    queue.submit_graph(&graph, &[]).unwrap();
    let sums = sum.into_vec().unwrap();
    assert_eq!((sums[0], sums[1]), (100 + 1 + 2 + 11, 100 + 1 + 2 + 3));
    drop(block);
}

fn own_contents() {
    let queue = immediate();
    let (set, add_one) = (kernel("set"), kernel("add_one"));
    let buffer = Buffer::from_vec(vec![0i32; 16], 16).unwrap();
    let mut graph = Graph::new(&queue);
    graph
        .add(|cg| {
            let a = cg.access(&buffer, Write.no_init())?;
            cg.parallel_for(&set, 16, (&a, 5))
        })
        .unwrap();
    graph
        .add(|cg| {
            let a = cg.access(&buffer, ReadWrite)?;
            cg.parallel_for(&add_one, 16, (&a,))
        })
        .unwrap();
    let graph = graph.finalize().unwrap();
    let log = Log::start();
    queue.submit_graph(&graph, &[]).unwrap().wait().unwrap();
    assert!(log.copies().is_empty());
    drop(log);
    assert_eq!(buffer.host_access(Read).unwrap()[15], 6);
    let before = buffer.device_ptr(&queue.device());
    buffer.release(&queue.device()).unwrap();
    match queue.submit_graph(&graph, &[]) {
        // The allocator may return the same address again.
        Ok(_) => assert_eq!(buffer.device_ptr(&queue.device()), before),
        Err(refused) => assert!(refused.to_string().contains("released"), "{refused}"),
    }
}

/// A group that accesses one buffer both with and without `no_init` gets its contents, submitted or recorded.
fn reads_what_it_overwrites() {
    fn double<'cg>(buffer: &Buffer<'_, i32>, cg: Handler<'cg>) -> sycl::Result<Command<'cg>> {
        let to = cg.access(buffer, Write.no_init())?;
        let from = cg.access(buffer, Read)?;
        cg.parallel_for(&kernel("add"), 16, (&from, &from, &to))
    }
    let queue = immediate();
    for recorded in [false, true] {
        let buffer = Buffer::from_vec(vec![7i32; 16], 16).unwrap();
        let log = Log::start();
        if recorded {
            let mut graph = Graph::new(&queue);
            graph.add(|cg| double(&buffer, cg)).unwrap();
            let graph = graph.finalize().unwrap();
            queue.submit_graph(&graph, &[]).unwrap().wait().unwrap();
        } else {
            let submitted = queue.submit(|cg| double(&buffer, cg));
            submitted.unwrap().wait().unwrap();
        }
        assert_eq!(log.copies(), [64], "recorded: {recorded}");
        drop(log);
        assert_eq!(buffer.into_vec().unwrap(), [14; 16], "recorded: {recorded}");
    }
}

fn refuses() {
    let queue = immediate();
    let mut graph = Graph::new(&queue);
    let task = graph.add(|cg| cg.host_task((), |_, ()| Ok(())));
    assert_eq!(task.unwrap_err().errc(), Errc::FeatureNotSupported);
    let event = queue.submit_barrier(&[]).unwrap();
    let waits = graph.add(|cg| {
        cg.depends_on(&[event]);
        cg.barrier()
    });
    assert_eq!(waits.unwrap_err().errc(), Errc::Invalid);
    if let Some(other) = crate::world::devices().get(1) {
        let other = sycl::Queue::builder().device(other).build().unwrap();
        let graph = graph.finalize().unwrap();
        assert_eq!(
            other.submit_graph(&graph, &[]).unwrap_err().errc(),
            Errc::Invalid
        );
    }
}

/// The last submission fails because an event that it waits for fails. The previous one still runs, so its list must
/// stay.
fn dropped_after_a_failed_submission() {
    let (queue, other) = (immediate(), queue(0));
    let add_one = kernel("add_one");
    let a = Buffer::from_vec(vec![0i32; 16], 16).unwrap();
    let mut graph = Graph::new(&queue);
    graph
        .add(|cg| {
            let a = cg.access(&a, ReadWrite)?;
            cg.parallel_for(&add_one, 16, (&a,))
        })
        .unwrap();
    let graph = graph.finalize().unwrap();
    let (gate, start) = (Gate::new(), Gate::new());
    let running = queue
        .submit_graph(&graph, std::slice::from_ref(&gate.event))
        .unwrap();
    let task = other
        .submit(|cg| {
            cg.depends_on(std::slice::from_ref(&start.event));
            cg.host_task((), |_, ()| Err(Error::new(Errc::Runtime, "no paper")))
        })
        .unwrap();
    let failed = queue
        .submit_graph(&graph, std::slice::from_ref(&task))
        .unwrap();
    start.open();
    assert!(task.wait().is_err());
    assert!(failed.wait().is_err());
    assert!(is_running(&running));
    let log = Log::start();
    drop(graph);
    assert_eq!(log.count("zeCommandListDestroy"), 0, "the list runs");
    gate.open();
    running.wait().unwrap();
    drop(queue.throw_asynchronous());
    drop(other.throw_asynchronous());
    // The failed submission should have written it.
    assert!(a.into_vec().is_err());
}
