//! Notifications, one function each.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use xpti::sys::{
    offload_accessor_data_t, offload_association_data_t, offload_buffer_data_t,
    offload_image_accessor_data_t, offload_image_data_t, optional_u32,
};
use xpti::{DetailLevel, Listeners, Location, NodeKind, Stash, Stream, Value, Visit};
use xpti::{event_type, trace_point_type as point};

use super::describe::{describe_device, describe_launch, describe_memory, number_of};
use super::{Label, Reason, Site};
use crate::device::Device;
use crate::engine::lane::NativeLane;
use crate::engine::pins::Kept;
use crate::error::Error;
use crate::image::{Filtering, ImageFormat, Sampler};
use crate::queue::QueueInner;

macro_rules! streams {
    ($($name:ident $text:literal)*) => { $(
        pub(super) static $name: Stream = Stream::new(
            $text,
            0,
            1,
            c"solum 0.1",
        );
    )* };
}
streams! {
    SYCL c"sycl"
    DEBUG c"sycl.debug"
    BUFFER c"sycl.experimental.buffer"
    IMAGE c"sycl.experimental.image"
    MEMORY c"sycl.experimental.mem_alloc"
    CALLS c"sycl.pi"
    CALLS_DEBUG c"sycl.pi.debug"
}

/// The two streams of the graph: both get every notification.
pub(super) static GRAPH: [&Stream; 2] = [&SYCL, &DEBUG];

/// Somebody listens to any type of a stream.
pub(super) fn any(stream: &'static Stream) -> Option<Listeners> {
    stream.listeners(0)
}

/// Somebody listens to the graph.
pub(super) fn graph_listeners() -> Option<Listeners> {
    any(&SYCL).or_else(|| any(&DEBUG))
}

/// Sends on both streams of the graph.
fn both(send: impl Fn(&'static Stream)) {
    GRAPH.into_iter().for_each(send);
}

/// Somebody wants to know source locations: the default level and above.
fn wants_locations() -> bool {
    any(&DEBUG).is_some() || matches!(SYCL.detail(), DetailLevel::Normal | DetailLevel::Verbose)
}

/// Somebody wants to know what kernels are called with.
fn wants_arguments() -> bool {
    any(&DEBUG).is_some() || SYCL.detail() == DetailLevel::Verbose
}

/// Announces the streams, in the order that tools know, and creates the graph; at the first enumeration of platforms.
pub(crate) fn start() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        for stream in [
            &SYCL,
            &DEBUG,
            &BUFFER,
            &IMAGE,
            &MEMORY,
            &CALLS,
            &CALLS_DEBUG,
        ] {
            let _ = any(stream);
        }
        if xpti::Framework::get().is_some() {
            extern "C" fn finish() {
                // The streams are the parent's.
                if crate::process::is_fork() {
                    return;
                }
                // A panic has nowhere to go at the end of the process.
                let _ = std::panic::catch_unwind(xpti::finish_all);
            }
            // SAFETY: a function without arguments that does not unwind.
            let _ = unsafe { libc::atexit(finish) };
        }
        let _ = graph();
    });
}

/// The process's one graph; made when somebody first listens.
pub(super) fn graph() -> Option<&'static Visit> {
    static CREATED: OnceLock<Option<Visit>> = OnceLock::new();
    let listeners = graph_listeners()?;
    CREATED
        .get_or_init(|| {
            let mut graph =
                listeners.visit(&Location::new(c"sycl.application.graph", c"", 0, 0))?;
            graph.set_event_type(event_type::GRAPH);
            both(|stream| stream.graph_create(&graph));
            Some(graph)
        })
        .as_ref()
}

/// The event that all notifications of a layer have as parent.
pub(super) fn layer(
    stream: &'static Stream,
    name: &'static CStr,
) -> Option<(&'static Visit, Listeners)> {
    static LAYERS: Mutex<Vec<(usize, &'static Visit)>> = Mutex::new(Vec::new());
    let listeners = any(stream)?;
    let key = std::ptr::from_ref(stream).addr();
    let mut layers = LAYERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = layers.iter().find(|(of, _)| *of == key) {
        return Some((known, listeners));
    }
    let visit: &'static Visit =
        Box::leak(Box::new(listeners.visit(&Location::new(name, c"", 0, 0))?));
    layers.push((key, visit));
    Some((visit, listeners))
}

pub(super) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

impl Site {
    pub(super) fn location(&self, name: CString) -> Location {
        #[cfg(feature = "source-locations")]
        let (file, line, column) = (
            Cow::Owned(c_text(self.location.file())),
            self.location.line(),
            self.location.column(),
        );
        #[cfg(not(feature = "source-locations"))]
        let (file, line, column) = (Cow::Borrowed(c""), 0, 0);
        Location {
            name: Cow::Owned(name),
            file,
            line,
            column,
        }
    }

    fn describe(&self, visit: &mut Visit) {
        if !wants_locations() {
            return;
        }
        let function = self.function();
        if !function.is_empty() {
            visit.set(c"sym_function_name", function);
        }
        #[cfg(feature = "source-locations")]
        {
            visit.set(c"sym_source_file_name", self.location.file());
            visit.set(
                c"sym_line_no",
                Value::Signed(i64::from(self.location.line())),
            );
            visit.set(
                c"sym_column_no",
                Value::Signed(i64::from(self.location.column())),
            );
        }
    }
}

/// A node of the graph, while somebody listens; nothing else.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node(Option<Arc<NodeInner>>);

struct NodeInner {
    visit: Visit,
    /// Its queue's number; 0 for the host.
    queue: u64,
    /// What it was announced to signal.
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
    /// Makes a node and announces it.
    pub(super) fn create(
        kind: NodeKind,
        location: &Location,
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

    /// A command group's.
    pub(crate) fn group<'a>(
        site: Site,
        queue: &QueueInner,
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
        let number = queue.trace.number();
        Self::create(kind, &site.location(c_text(label.name)), number, |visit| {
            describe_device(&queue.device, visit);
            visit.set(c"kernel_name", label.name);
            if let Some((shape, arguments)) = label.kernel {
                visit.set(c"from_source", true);
                if wants_arguments() {
                    describe_launch(shape, arguments, visit);
                }
            }
            visit.set(c"queue_id", Value::Unsigned(number));
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

    /// Does its work: what the driver is called for meanwhile belongs to it.
    #[inline]
    pub(crate) fn task<R>(&self, work: impl FnOnce() -> R) -> R {
        match self.inner().zip(graph()) {
            Some((node, graph)) => task(node, graph, work),
            None => work(),
        }
    }

    /// Its native event, when a command was appended; it is kept from being used again while the node lives.
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

    /// An edge for an event that its group was told to follow.
    pub(crate) fn follows(&self, earlier: &Self) {
        let Some(node) = earlier.inner() else { return };
        let name = format!("Event[{:x}]", node.visit.uid());
        edge(earlier, self, &name, |visit| {
            visit.set(c"event", Value::Unsigned(node.visit.uid()));
        });
    }

    /// It is held back until the answer is dropped.
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

/// While it lives a command is held back.
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

/// An edge between two nodes that are both known.
pub(super) fn edge(from: &Node, to: &Node, name: &str, describe: impl FnOnce(&mut Visit)) {
    let (Some((from, to)), Some(graph)) = (from.inner().zip(to.inner()), graph()) else {
        return;
    };
    let listeners = GRAPH
        .into_iter()
        .find_map(|stream| stream.listeners(point::EDGE_CREATE));
    let Some(mut visit) = listeners.and_then(|listeners| {
        listeners.visit(&Location {
            name: Cow::Owned(c_text(name)),
            file: Cow::Borrowed(c""),
            line: 0,
            column: 0,
        })
    }) else {
        return;
    };
    visit.set_ends(&from.visit, &to.visit);
    visit.set(c"source_instance", Value::Unsigned(from.visit.instance()));
    visit.set(c"target_instance", Value::Unsigned(to.visit.instance()));
    describe(&mut visit);
    both(|stream| stream.edge_create(graph, &visit));
}

/// Whether somebody listens to edges: only then are uses of buffers kept.
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
}

impl Default for QueueTrace {
    fn default() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            created: OnceLock::new(),
        }
    }
}

impl QueueTrace {
    fn number(&self) -> u64 {
        self.number
    }

    /// The queue is there.
    pub(crate) fn created(&self, queue: &QueueInner) {
        let Some(listeners) = graph_listeners() else {
            return;
        };
        let name = c_text(&format!("queue[{}]", self.number));
        let location = Location {
            name: Cow::Owned(name),
            file: Cow::Borrowed(c""),
            line: 0,
            column: 0,
        };
        let Some(mut visit) = listeners.visit(&location) else {
            return;
        };
        describe_device(&queue.device, &mut visit);
        visit.set(c"queue_id", Value::Unsigned(self.number));
        visit.set(c"is_inorder", queue.props.in_order);
        visit.set(
            c"sycl_context",
            Value::Unsigned(queue.context.handle().addr() as u64),
        );
        let first = queue.lanes().next().and_then(|lane| lane.native());
        let handle = first.map_or(0, |native| match native {
            NativeLane::Queue(queue) => queue.addr(),
            NativeLane::List(list) => list.addr(),
        });
        visit.set(c"queue_handle", Value::Unsigned(handle as u64));
        let instance = listeners.framework().unique_id();
        both(|stream| stream.queue_create(&visit, instance));
        let _ = self.created.set((visit, instance));
    }

    /// It goes.
    pub(crate) fn destroyed(&self) {
        if let Some((visit, instance)) = self.created.get() {
            both(|stream| stream.queue_destroy(visit, *instance));
        }
    }
}

/// Waits for an event; without a node it is somebody else's, and the graph stands for it.
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

/// Waits for a queue.
pub(crate) fn wait_for_queue<R>(site: Site, queue: &QueueInner, wait: impl FnOnce() -> R) -> R {
    let address = std::ptr::from_ref(queue).addr();
    let visit = graph_listeners().and_then(|listeners| {
        let name = c_text(&format!("queue.wait[{address:x}]"));
        let mut visit = listeners.visit(&site.location(name))?;
        describe_device(&queue.device, &mut visit);
        site.describe(&mut visit);
        Some(visit)
    });
    let Some(visit) = visit else { return wait() };
    let spans = GRAPH.map(|stream| stream.wait_for_queue(&visit, address));
    let result = wait();
    drop(spans);
    result
}

/// An error that the program is told of.
pub(crate) fn diagnostic(error: &Error) {
    static PARENT: OnceLock<Option<Visit>> = OnceLock::new();
    let Some(listeners) = GRAPH
        .into_iter()
        .find_map(|stream| stream.listeners(point::DIAGNOSTICS))
    else {
        return;
    };
    let parent =
        PARENT.get_or_init(|| listeners.visit(&Location::new(c"sycl.exceptions", c"", 0, 0)));
    let text = c_text(&error.to_string());
    both(|stream| stream.diagnostics(parent.as_ref(), &text));
}

const BUFFER_LAYER: &CStr = c"oneapi.experimental.buffer";
const IMAGE_LAYER: &CStr = c"oneapi.experimental.image";

/// A buffer is made. Its number stands for it.
pub(crate) fn buffer_made(
    site: Site,
    number: u64,
    host: usize,
    element: &'static str,
    element_size: usize,
    extents: &[usize],
) {
    let Some((layer, listeners)) = layer(&BUFFER, BUFFER_LAYER) else {
        return;
    };
    let element = c_text(element);
    let mut range = [0; 3];
    for (to, from) in range.iter_mut().zip(extents) {
        *to = *from;
    }
    let data = offload_buffer_data_t {
        user_object_handle: number as usize,
        host_object_handle: host,
        element_type: element.as_ptr(),
        element_size: u32::try_from(element_size).unwrap_or(u32::MAX),
        dim: extents.len() as u32,
        range,
    };
    BUFFER.buffer_construct(layer, at(site, listeners).as_ref(), &data);
}

/// DPC++'s form has the place in the program as event; the seed's has none.
fn at(site: Site, listeners: Listeners) -> Option<Visit> {
    match xpti::Compat::current() {
        xpti::Compat::Seed => None,
        xpti::Compat::Dpcpp => listeners.visit(&site.location(c_text(site.function()))),
    }
}

/// A buffer or image goes.
pub(crate) fn buffer_gone(number: u64, is_image: bool) {
    if is_image {
        if let Some((layer, _)) = layer(&IMAGE, IMAGE_LAYER) {
            IMAGE.image_destruct(layer, &image(number, 0, &[], 0, None));
        }
        return;
    }
    if let Some((layer, _)) = layer(&BUFFER, BUFFER_LAYER) {
        let data = offload_buffer_data_t {
            user_object_handle: number as usize,
            host_object_handle: 0,
            element_type: std::ptr::null(),
            element_size: 0,
            dim: 0,
            range: [0; 3],
        };
        BUFFER.buffer_destruct(layer, &data);
    }
}

/// An image is made. Its number stands for it.
pub(crate) fn image_made(
    site: Site,
    number: u64,
    host: usize,
    extents: &[usize],
    format: ImageFormat,
    sampler: Option<Sampler>,
) {
    if let Some((layer, listeners)) = layer(&IMAGE, IMAGE_LAYER) {
        let data = image(number, host, extents, format.number(), sampler);
        IMAGE.image_construct(layer, at(site, listeners).as_ref(), &data);
    }
}

fn image(
    number: u64,
    host: usize,
    extents: &[usize],
    format: u32,
    sampler: Option<Sampler>,
) -> offload_image_data_t {
    let mut range = [0; 3];
    for (to, from) in range.iter_mut().zip(extents) {
        *to = *from;
    }
    offload_image_data_t {
        user_object_handle: number as usize,
        host_object_handle: host,
        dim: extents.len() as u32,
        range,
        format,
        addressing: optional(sampler.map(|sampler| sampler.addressing.number() as u32)),
        // SYCL's enumerations begin with the normalised and with the nearest.
        coordinate_normalization: optional(sampler.map(|sampler| u32::from(!sampler.normalized))),
        filtering: optional(
            sampler.map(|sampler| u32::from(sampler.filtering == Filtering::Linear)),
        ),
    }
}

fn optional(value: Option<u32>) -> optional_u32 {
    optional_u32 {
        value: value.unwrap_or(0),
        engaged: u8::from(value.is_some()),
        padding: [0; 3],
    }
}

/// An accessor of an image is made; `target` is SYCL's `image_target`, none on the host; `mode` is none for sampled
/// images; the element is what texels are read as.
pub(crate) fn image_accessor(
    site: Site,
    number: u64,
    handle: usize,
    target: Option<u32>,
    mode: Option<sycl_graph::Mode>,
    (element, element_size): (&str, usize),
) {
    let Some((layer, listeners)) = layer(&IMAGE, IMAGE_LAYER) else {
        return;
    };
    let element = c_text(element);
    let data = offload_image_accessor_data_t {
        image_handle: number as usize,
        accessor_handle: handle,
        target: optional(target),
        mode: optional(mode.map(mode_number)),
        element_type: element.as_ptr(),
        element_size: u32::try_from(element_size).unwrap_or(u32::MAX),
    };
    IMAGE.image_accessor(layer, at(site, listeners).as_ref(), &data);
}

/// The stream of a buffer's memory or an image's.
fn stream_of(image: bool) -> (&'static Stream, &'static CStr) {
    match image {
        true => (&IMAGE, IMAGE_LAYER),
        false => (&BUFFER, BUFFER_LAYER),
    }
}

/// A buffer or image got memory on a device.
pub(super) fn associated(number: u64, pointer: usize, image: bool) {
    let (stream, name) = stream_of(image);
    if let Some((layer, _)) = layer(stream, name) {
        stream.memory_associate(layer, &association(number, pointer));
    }
}

/// It gave it back.
pub(super) fn released(number: u64, pointer: usize, image: bool) {
    let (stream, _) = stream_of(image);
    if any(stream).is_some() {
        stream.memory_release(&association(number, pointer));
    }
}

fn association(number: u64, pointer: usize) -> offload_association_data_t {
    offload_association_data_t {
        user_object_handle: number as usize,
        mem_object_handle: pointer,
    }
}

/// SYCL's number of an access mode.
pub(super) fn mode_number(mode: sycl_graph::Mode) -> u32 {
    match mode {
        sycl_graph::Mode::Read => 1024,
        sycl_graph::Mode::Write => 1025,
        sycl_graph::Mode::ReadWrite => 1026,
        sycl_graph::Mode::NoInitWrite => 1027,
        sycl_graph::Mode::NoInitReadWrite => 1028,
    }
}

/// An accessor is made; `target` is SYCL's number: 2014 device, 2018 host buffer, 2021 host task.
pub(crate) fn accessor(
    site: Site,
    number: u64,
    handle: usize,
    target: u32,
    mode: sycl_graph::Mode,
) {
    let Some((layer, listeners)) = layer(&BUFFER, BUFFER_LAYER) else {
        return;
    };
    let data = offload_accessor_data_t {
        buffer_handle: number as usize,
        accessor_handle: handle,
        target,
        mode: mode_number(mode),
    };
    BUFFER.accessor(layer, at(site, listeners).as_ref(), &data);
}

/// A host accessor goes.
pub(crate) fn unlocked(number: u64, lock: &Node) {
    if !lock.is_some() {
        return;
    }
    let name = named(&format!(
        "Host Accessor Destruction/Buffer Lock Release[{number:x}]"
    ));
    let node = Node::create(NodeKind::HostAccessorDestruction, &name, 0, |visit| {
        visit.set(c"memory_object", Value::Unsigned(number));
    });
    edge(lock, &node, &format!("Event[{number:x}]"), |visit| {
        visit.set(c"memory_object", Value::Unsigned(number));
    });
}

pub(super) fn device_number(device: Option<&Device>) -> Value<'static> {
    Value::Unsigned(number_of(device))
}

pub(super) fn site_location(site: Site, name: &str) -> Location {
    site.location(c_text(name))
}

pub(super) fn named(name: &str) -> Location {
    Location {
        name: Cow::Owned(c_text(name)),
        file: Cow::Borrowed(c""),
        line: 0,
        column: 0,
    }
}

pub(super) fn describe_site(site: Site, visit: &mut Visit) {
    site.describe(visit);
}

/// Calls of Level Zero on `sycl.pi` and `sycl.pi.debug`.
pub(crate) mod calls {
    use super::*;
    use smallvec::SmallVec;
    use xpti::sys::function_with_args_t;

    /// Somebody listens to calls.
    #[inline]
    pub(crate) fn traced() -> bool {
        any(&CALLS).is_some() || any(&CALLS_DEBUG).is_some()
    }

    /// A call with its arguments' addresses, in the form of Level Zero's own tracing layer.
    #[cold]
    pub(crate) fn call<R>(
        name: &'static str,
        arguments: &[*const c_void],
        call: impl FnOnce() -> R,
    ) -> R {
        let name = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or(c"");
        let plain =
            layer(&CALLS, c"sycl.pi").and_then(|(layer, _)| CALLS.function(Some(layer), name));
        let mut data = function_with_args_t {
            function_id: number(name),
            function_name: name.as_ptr(),
            args_data: arguments.as_ptr().cast(),
            ret_data: std::ptr::null(),
            user_data: std::ptr::null(),
        };
        let debug = layer(&CALLS_DEBUG, c"sycl.pi.debug").map(|(layer, _)| layer);
        let instance = debug.and_then(|layer| CALLS_DEBUG.call_begin(Some(layer), None, &data));
        let result = call();
        if let Some(instance) = instance {
            data.ret_data = (&raw const result).cast();
            CALLS_DEBUG.call_end(debug, None, instance, &data);
        }
        drop(plain);
        result
    }

    /// Arguments as a structure of pointers to each.
    pub(crate) trait Pointers {
        /// One for each.
        fn pointers(&self) -> SmallVec<[*const c_void; 16]>;
    }
    /// A function by the types of its arguments.
    pub(crate) trait Signature {
        /// As a tuple.
        type Arguments;
        /// The arguments, which get the types that the function gives them.
        fn typed(self, arguments: Self::Arguments) -> Self::Arguments;
    }
    macro_rules! pointers {
        ($first:ident $($rest:ident)*) => {
            impl<Answer, $first $(, $rest)*> Signature for unsafe extern "C" fn($first $(, $rest)*) -> Answer {
                type Arguments = ($first, $($rest,)*);
                fn typed(self, arguments: Self::Arguments) -> Self::Arguments {
                    arguments
                }
            }
            impl<$first, $($rest),*> Pointers for ($first, $($rest,)*) {
                #[expect(non_snake_case, reason = "values carry their types' names")]
                fn pointers(&self) -> SmallVec<[*const c_void; 16]> {
                    let ($first, $($rest,)*) = self;
                    let mut all = SmallVec::new();
                    all.push(std::ptr::from_ref($first).cast());
                    $(all.push(std::ptr::from_ref($rest).cast());)*
                    all
                }
            }
            pointers!($($rest)*);
        };
        () => {};
    }
    pointers!(A B C D E F G H I J K L M);

    /// The function's place in the API table of this version.
    fn number(name: &CStr) -> u32 {
        static NUMBERS: LazyLock<std::collections::HashMap<&'static str, u32>> =
            LazyLock::new(|| ze_spec::FUNCTIONS.iter().map(|f| f.name).zip(1..).collect());
        name.to_str()
            .ok()
            .and_then(|name| NUMBERS.get(name))
            .copied()
            .unwrap_or(0)
    }
}
