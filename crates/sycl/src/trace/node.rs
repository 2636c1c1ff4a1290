//! Nodes of the graph, one for each command, their edges, and queues.

use std::ffi::CStr;
use std::fmt::Arguments;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use xpti::{Framework, Location, NodeKind, Object, Stash, Value, Visit, trace_point_type as point};

use super::describe::{
    DeviceObjects, describe_device, describe_launch, describe_memory, number_of,
};
use super::label::{Label, NewQueue, Reason};
use super::site::Site;
use super::streams::{GRAPH, ShortText, both, graph, graph_listeners, wants_arguments};
use crate::device::Device;
use crate::engine::pins::Kept;

/// A node of the graph while a subscriber listens; empty otherwise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node(Option<Arc<NodeInner>>);

struct NodeInner {
    visit: Visit,
    /// The queue's number; 0 for the host.
    queue: u64,
    /// The event that the command signals.
    signalled: OnceLock<Kept>,
}

impl std::fmt::Debug for NodeInner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("visit", &self.visit)
            .finish_non_exhaustive()
    }
}

impl Node {
    /// Creates a node and reports it.
    pub(super) fn create(
        kind: NodeKind,
        location: &Location<'_>,
        queue: u64,
        describe: impl FnOnce(&mut Visit),
    ) -> Self {
        let Some((graph, listeners)) = graph().zip(graph_listeners()) else {
            return Self(None);
        };
        let Some(mut visit) = listeners.visit(location) else {
            return Self(None);
        };
        describe(&mut visit);
        let node = Arc::new(NodeInner {
            visit,
            queue,
            signalled: OnceLock::new(),
        });
        let address = Arc::as_ptr(&node).addr();
        let _stash = Stash::put(listeners.framework(), c"queue_id", queue);
        both(|stream| stream.node_create(graph, &node.visit, kind, address));
        Self(Some(node))
    }

    /// Creates and reports a node of the host without a place in the source.
    pub(super) fn named(
        kind: NodeKind,
        name: Arguments<'_>,
        describe: impl FnOnce(&mut Visit),
    ) -> Self {
        if graph_listeners().is_none() {
            return Self(None);
        }
        let name = ShortText::format(name);
        Self::create(kind, &Location::named(&name), 0, describe)
    }

    /// The node of a command group.
    pub(crate) fn group<'a>(
        site: Site,
        (queue, device): (&QueueTrace, &Device),
        label: impl FnOnce() -> Label<'a>,
    ) -> Self {
        if graph_listeners().is_none() {
            return Self(None);
        }
        let label = label();
        let kind = match label.transfer {
            true => NodeKind::MemoryTransfer,
            false => NodeKind::CommandGroup,
        };
        let number = queue.number();
        let name = ShortText::new(label.name);
        Self::create(kind, &site.location(&name), number, |visit| {
            let objects = queue.objects(device, visit.framework());
            objects.device.describe(visit);
            visit.set(c"kernel_name", label.name);
            if let Some((shape, arguments)) = label.kernel {
                visit.set_object(c"from_source", objects.yes);
                if wants_arguments() {
                    describe_launch(shape, arguments, visit);
                }
            }
            visit.set_object(c"queue_id", objects.number);
            if let Some(memory) = label.memory {
                describe_memory(memory, visit);
            }
            site.describe(visit);
        })
    }

    fn inner(&self) -> Option<&NodeInner> {
        self.0.as_deref()
    }

    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Runs the node's work: driver calls meanwhile are attributed to it.
    #[inline]
    pub(crate) fn task<R>(&self, work: impl FnOnce() -> R) -> R {
        match self.inner().zip(graph()) {
            Some((node, graph)) => task(node, graph, work),
            None => work(),
        }
    }

    /// Sets the native event of an appended command; it is not reused while the node lives.
    pub(crate) fn signal(&self, event: impl FnOnce() -> Option<Kept>) {
        if let Some((node, graph)) = self.inner().zip(graph())
            && GRAPH
                .into_iter()
                .any(|stream| stream.listeners(point::SIGNAL).is_some())
            && let Some(event) = event()
        {
            let handle = event.event.addr();
            let _ = node.signalled.set(event);
            both(|stream| stream.signal(graph, &node.visit, node.visit.instance(), handle));
        }
    }

    /// Reports an edge for an event that the group depends on.
    pub(crate) fn follows(&self, earlier: &Self) {
        let Some(node) = earlier.inner() else { return };
        let name = ShortText::format(format_args!("Event[{:x}]", node.visit.uid()));
        edge(earlier, self, &name, |visit| {
            visit.set(c"event", Value::Unsigned(node.visit.uid()));
        });
    }

    /// Reports that the command is deferred until the returned value is dropped.
    pub(crate) fn barrier(&self, reason: Reason) -> Barrier {
        let reason = match reason {
            Reason::HostAccessor => c"Buffer locked by host accessor",
            Reason::HostTask => c"Blocked by host task",
            Reason::Elsewhere => c"Unknown reason",
        };
        let mut instances = [None; 2];
        if let Some((node, graph)) = self.inner().zip(graph()) {
            instances = GRAPH.map(|stream| stream.barrier_begin(graph, &node.visit, reason));
        }
        Barrier {
            node: self.clone(),
            reason,
            instances,
        }
    }
}

fn task<R>(node: &NodeInner, graph: &'static Visit, work: impl FnOnce() -> R) -> R {
    let _stash = xpti::Framework::get().map(|f| Stash::put(f, c"queue_id", node.queue));
    let _scope = node.visit.enter();
    let spans = GRAPH.map(|stream| stream.task(graph, &node.visit));
    let result = work();
    drop(spans);
    result
}

/// A command is deferred while this lives.
#[derive(Debug)]
pub(crate) struct Barrier {
    node: Node,
    reason: &'static CStr,
    instances: [Option<u64>; 2],
}

impl Drop for Barrier {
    fn drop(&mut self) {
        let Some((node, graph)) = self.node.inner().zip(graph()) else {
            return;
        };
        for (stream, instance) in GRAPH.into_iter().zip(self.instances) {
            if let Some(instance) = instance {
                stream.barrier_end(graph, &node.visit, instance, self.reason);
            }
        }
    }
}

/// Reports an edge between two known nodes.
pub(super) fn edge(from: &Node, to: &Node, name: &CStr, describe: impl FnOnce(&mut Visit)) {
    let (Some((from, to)), Some(graph)) = (from.inner().zip(to.inner()), graph()) else {
        return;
    };
    let listeners = GRAPH
        .into_iter()
        .find_map(|stream| stream.listeners(point::EDGE_CREATE));
    let Some(mut visit) = listeners.and_then(|listeners| listeners.visit(&Location::named(name)))
    else {
        return;
    };
    visit.set_ends(&from.visit, &to.visit);
    visit.set(c"source_instance", Value::Unsigned(from.visit.instance()));
    visit.set(c"target_instance", Value::Unsigned(to.visit.instance()));
    describe(&mut visit);
    both(|stream| stream.edge_create(graph, &visit));
}

/// Whether a subscriber listens to edges: only then are uses of buffers kept.
pub(super) fn wants_edges() -> bool {
    GRAPH
        .into_iter()
        .any(|stream| stream.listeners(point::EDGE_CREATE).is_some())
}

/// A queue's number and event.
#[derive(Debug)]
pub(crate) struct QueueTrace {
    number: u64,
    created: OnceLock<(Visit, u64)>,
    objects: OnceLock<QueueObjects>,
}

/// Metadata that all nodes of a queue have, in the framework's table.
#[derive(Debug)]
struct QueueObjects {
    device: DeviceObjects,
    number: Option<Object>,
    /// Of `from_source`: the kernels are those of the program.
    yes: Option<Object>,
}

impl Default for QueueTrace {
    fn default() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            created: OnceLock::new(),
            objects: OnceLock::new(),
        }
    }
}

impl QueueTrace {
    fn number(&self) -> u64 {
        self.number
    }

    fn objects(&self, device: &Device, framework: &Framework) -> &QueueObjects {
        self.objects.get_or_init(|| QueueObjects {
            device: DeviceObjects::new(device, framework),
            number: Value::Unsigned(self.number).intern(framework),
            yes: Value::from(true).intern(framework),
        })
    }

    /// Reports a new queue.
    pub(crate) fn created(&self, queue: &NewQueue<'_>) {
        let Some(listeners) = graph_listeners() else {
            return;
        };
        let name = ShortText::format(format_args!("queue[{}]", self.number));
        let Some(mut visit) = listeners.visit(&Location::named(&name)) else {
            return;
        };
        let objects = self.objects(queue.device, visit.framework());
        objects.device.describe(&mut visit);
        visit.set_object(c"queue_id", objects.number);
        visit.set(c"is_inorder", queue.in_order);
        visit.set(c"sycl_context", Value::Unsigned(queue.context as u64));
        visit.set(c"queue_handle", Value::Unsigned((queue.handle)() as u64));
        let instance = listeners.framework().unique_id();
        both(|stream| stream.queue_create(&visit, instance));
        let _ = self.created.set((visit, instance));
    }

    /// Reports the end of the queue.
    pub(crate) fn destroyed(&self) {
        if let Some((visit, instance)) = self.created.get() {
            both(|stream| stream.queue_destroy(visit, *instance));
        }
    }
}

/// Reports a wait for an event; one without a node is not this runtime's, and is attributed to the graph.
pub(crate) fn wait_for_event<R>(
    _: Site,
    node: &Node,
    address: usize,
    wait: impl FnOnce() -> R,
) -> R {
    let Some(graph) = graph() else { return wait() };
    let event = node.inner().map_or(graph, |node| &node.visit);
    let spans = GRAPH.map(|stream| stream.wait_for_event(event, address));
    let result = wait();
    drop(spans);
    result
}

/// Reports a wait for a queue.
pub(crate) fn wait_for_queue<R>(
    site: Site,
    (address, device): (usize, &Device),
    wait: impl FnOnce() -> R,
) -> R {
    let visit = graph_listeners().and_then(|listeners| {
        let name = ShortText::format(format_args!("queue.wait[{address:x}]"));
        let mut visit = listeners.visit(&site.location(&name))?;
        describe_device(device, &mut visit);
        site.describe(&mut visit);
        Some(visit)
    });
    let Some(visit) = visit else { return wait() };
    let spans = GRAPH.map(|stream| stream.wait_for_queue(&visit, address));
    let result = wait();
    drop(spans);
    result
}

/// Reports the end of a host accessor.
pub(crate) fn unlocked(number: u64, lock: &Node) {
    if !lock.is_some() {
        return;
    }
    let name = format_args!("Host Accessor Destruction/Buffer Lock Release[{number:x}]");
    let node = Node::named(NodeKind::HostAccessorDestruction, name, |visit| {
        visit.set(c"memory_object", Value::Unsigned(number));
    });
    let name = ShortText::format(format_args!("Event[{number:x}]"));
    edge(lock, &node, &name, |visit| {
        visit.set(c"memory_object", Value::Unsigned(number));
    });
}

pub(super) fn device_number(device: Option<&Device>) -> Value<'static> {
    Value::Unsigned(number_of(device))
}
