//! The notifications of SYCL's streams, typed: each function knows the parent, event and user data to send.
//!
//! A pair of begin and end is a [`Span`]: dropping it sends the end, with the same instance. Each function first checks
//! for listeners; arguments that are expensive to make should be made after [`Stream::listeners`].
//!
//! Identity. A node's id is that of its location, and `node_create` is sent only at the first visit of a location:
//! further visits are further instances of that node, known by their task notifications. `SOLUM_XPTI_COMPAT=dpcpp`
//! sends it at every visit, with only the kind as user data, as DPC++ 2026.2 does, and the notifications of the
//! program's own memory in its form.
//!
//! The program's own memory. Its notifications are those of a buffer's memory, with a struct and without an event.
//! `SOLUM_XPTI_USM_UD=string` sends DPC++'s instead: the function's name, with the call's location as event.
//! Subscribers distinguish the two by the event.

use core::ffi::{CStr, c_void};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::{CString, OsStr};
use std::sync::{LazyLock, Mutex, PoisonError};

use xpti_sys::trace_point_type as point;
use xpti_sys::{
    function_with_args_t, mem_alloc_data_t, offload_accessor_data_t, offload_association_data_t,
    offload_buffer_data_t, offload_image_accessor_data_t, offload_image_data_t,
};

use crate::stream::{Listeners, Recent};
use crate::{Stream, Visit};

/// The form of identity and user data that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compat {
    /// A node is announced once for each location; its user data contains its address.
    Seed,
    /// As DPC++ 2026.2: a node is announced at each visit, without an address; [`UsmData::String`] unless chosen otherwise.
    Dpcpp,
}

impl Compat {
    /// By name; the default comes first.
    const ALL: [(&'static str, Self); 2] = [("seed", Self::Seed), ("dpcpp", Self::Dpcpp)];

    /// The value of `SOLUM_XPTI_COMPAT`, read once: `seed` (the default) or `dpcpp`. Another value is reported on
    /// stderr and means the default.
    pub fn current() -> Self {
        static CURRENT: LazyLock<Compat> =
            LazyLock::new(|| chosen("SOLUM_XPTI_COMPAT", &Compat::ALL));
        *CURRENT
    }

    /// Whether a node at this location is to be announced now, on the stream of this name.
    fn announces(self, stream: &'static CStr, recent: &Recent, uid: u64) -> bool {
        static ANNOUNCED: LazyLock<Mutex<HashSet<(&CStr, u64)>>> = LazyLock::new(Mutex::default);
        if self == Self::Dpcpp {
            return true;
        }
        if recent.contains(uid) {
            return false;
        }
        let mut announced = ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = announced.insert((stream, uid));
        recent.insert(uid);
        is_new
    }
}

/// The user data in notifications of the program's own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsmData {
    /// `mem_alloc_data_t`, as those of buffers.
    Struct,
    /// As DPC++ 2026.2: the function's name.
    String,
}

impl UsmData {
    /// By name.
    const ALL: [(&'static str, Self); 2] = [("struct", Self::Struct), ("string", Self::String)];

    /// The value of `SOLUM_XPTI_USM_UD`, read once: `struct` or `string`. The default is that of [`Compat::current`];
    /// it also replaces another value, which is reported on stderr.
    pub fn current() -> Self {
        static CURRENT: LazyLock<UsmData> =
            LazyLock::new(|| chosen("SOLUM_XPTI_USM_UD", &UsmData::all(Compat::current())));
        *CURRENT
    }

    /// By name; the default of a form comes first.
    const fn all(compat: Compat) -> [(&'static str, Self); 2] {
        let [of_buffers, of_dpcpp] = Self::ALL;
        match compat {
            Compat::Seed => [of_buffers, of_dpcpp],
            Compat::Dpcpp => [of_dpcpp, of_buffers],
        }
    }
}

/// The function by which a program allocates or frees its own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsmCall {
    /// Allocates host memory.
    AllocateHost,
    /// Allocates a device's or shared memory.
    Allocate,
    /// Frees memory.
    Free,
}

impl UsmCall {
    /// The name that is sent.
    pub const fn name(self) -> &'static CStr {
        match self {
            Self::AllocateHost => c"malloc_host",
            Self::Allocate => c"usm::alignedAlloc",
            Self::Free => c"usm::free",
        }
    }

    const fn begin(self) -> u16 {
        match self {
            Self::AllocateHost | Self::Allocate => point::MEM_ALLOC_BEGIN,
            Self::Free => point::MEM_RELEASE_BEGIN,
        }
    }
}

/// The choice of a variable. An empty value means the first one, and so does an unknown value, which is reported on
/// stderr.
fn chosen<T: Copy>(variable: &str, all: &[(&str, T); 2]) -> T {
    let value = std::env::var_os(variable).unwrap_or_default();
    named(&value, all).unwrap_or_else(|| {
        let [(first, default), (second, _)] = *all;
        let line = format!(
            "xpti: {variable}={}: allowed are {first} and {second}\n",
            value.display()
        );
        signal_mask::write_stderr(line.as_bytes());
        default
    })
}

fn named<T: Copy>(value: &OsStr, all: &[(&str, T); 2]) -> Option<T> {
    if value.is_empty() {
        return Some(all[0].1);
    }
    let mut all = all.iter();
    all.find(|(name, _)| value == *name).map(|(_, of)| *of)
}

/// The kind of a node of SYCL's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A command group.
    CommandGroup,
    /// A copy.
    MemoryTransfer,
    /// Memory on a device.
    MemoryAllocation,
    /// A sub-buffer.
    SubBufferCreation,
    /// The end of memory or of a sub-buffer.
    MemoryDeallocation,
    /// The host waits for a buffer.
    HostAccessorCreation,
    /// The host releases the buffer.
    HostAccessorDestruction,
}

impl NodeKind {
    /// The name that is sent.
    pub const fn name(self) -> &'static CStr {
        match self {
            Self::CommandGroup => c"command_group_node",
            Self::MemoryTransfer => c"memory_transfer_node",
            Self::MemoryAllocation => c"memory_allocation_node",
            Self::SubBufferCreation => c"sub_buffer_creation_node",
            Self::MemoryDeallocation => c"memory_deallocation_node",
            Self::HostAccessorCreation => c"host_acc_create_buffer_lock_node",
            Self::HostAccessorDestruction => c"host_acc_destroy_buffer_release_node",
        }
    }
}

/// A pair whose begin was sent; dropping it sends the end.
#[derive(Debug)]
#[must_use = "dropping the span sends the end"]
pub struct Span<'a> {
    listeners: Listeners,
    end: u16,
    parent: Option<&'a Visit>,
    event: Option<&'a Visit>,
    instance: u64,
    text: Option<Cow<'static, CStr>>,
}

impl Span<'_> {
    fn user_data(&self) -> *const c_void {
        self.text
            .as_ref()
            .map_or(core::ptr::null(), |text| text.as_ptr().cast())
    }
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        // SAFETY: text or null, as at the beginning.
        unsafe {
            self.listeners.send_as(
                self.end,
                self.parent,
                self.event,
                self.instance,
                self.user_data(),
            )
        };
    }
}

/// `name[hex]`, as DPC++ names objects.
fn with_address(name: &CStr, address: usize) -> CString {
    let mut text = name.to_bytes().to_vec();
    text.extend_from_slice(format!("[{address:x}]").as_bytes());
    // Neither the name nor hexadecimal digits contain a zero byte.
    CString::new(text).unwrap_or_default()
}

/// `enqueue.barrier[reason]`.
fn barrier_text(reason: &CStr) -> CString {
    let mut text = b"enqueue.barrier[".to_vec();
    text.extend_from_slice(reason.to_bytes());
    text.push(b']');
    CString::new(text).unwrap_or_default()
}

fn pointer<T>(data: &T) -> *const c_void {
    core::ptr::from_ref(data).cast()
}

impl Stream {
    fn span<'a>(
        &'static self,
        begin: u16,
        parent: Option<&'a Visit>,
        event: Option<&'a Visit>,
        instance: Option<u64>,
        text: Option<Cow<'static, CStr>>,
    ) -> Option<Span<'a>> {
        // A subscriber may listen to ends only: the span exists if either has a listener.
        let listeners = self
            .listeners(begin)
            .or_else(|| self.listeners(begin | 1))?;
        let instance = instance.unwrap_or_else(|| listeners.framework().unique_id());
        let span = Span {
            listeners,
            end: begin | 1,
            parent,
            event,
            instance,
            text,
        };
        // SAFETY: text or null.
        unsafe {
            span.listeners
                .send_as(begin, parent, event, instance, span.user_data())
        };
        Some(span)
    }

    /// A task graph is created.
    pub fn graph_create(&'static self, graph: &Visit) {
        if let Some(listeners) = self.listeners(point::GRAPH_CREATE) {
            // SAFETY: no user data.
            unsafe { listeners.send(None, Some(graph), graph.instance(), core::ptr::null()) };
        }
    }

    /// A node of the graph. `object` is the address of its object; the module's documentation says when it is sent.
    pub fn node_create(&'static self, graph: &Visit, node: &Visit, kind: NodeKind, object: usize) {
        let Some(listeners) = self.listeners(point::NODE_CREATE) else {
            return;
        };
        let compat = Compat::current();
        if !compat.announces(self.name(), self.announced(), node.uid()) {
            return;
        }
        let text = match compat {
            Compat::Seed => Cow::Owned(with_address(kind.name(), object)),
            Compat::Dpcpp => Cow::Borrowed(kind.name()),
        };
        let instance = listeners.framework().unique_id();
        // SAFETY: text.
        unsafe { listeners.send(Some(graph), Some(node), instance, text.as_ptr().cast()) };
    }

    /// A dependency; `edge` has its nodes set ([`Visit::set_ends`]).
    pub fn edge_create(&'static self, graph: &Visit, edge: &Visit) {
        if let Some(listeners) = self.listeners(point::EDGE_CREATE) {
            let instance = listeners.framework().unique_id();
            // SAFETY: no user data.
            unsafe { listeners.send(Some(graph), Some(edge), instance, core::ptr::null()) };
        }
    }

    /// A node's work is submitted to its device until the span ends.
    pub fn task<'a>(&'static self, graph: &'a Visit, node: &'a Visit) -> Option<Span<'a>> {
        self.span(point::TASK_BEGIN, Some(graph), Some(node), None, None)
    }

    /// A native event belongs to the node's task.
    pub fn signal(&'static self, graph: &Visit, node: &Visit, instance: u64, handle: usize) {
        if let Some(listeners) = self.listeners(point::SIGNAL) {
            let handle = core::ptr::without_provenance(handle);
            // SAFETY: the type's user data is a handle, which is not dereferenced.
            unsafe { listeners.send(Some(graph), Some(node), instance, handle) };
        }
    }

    /// The host waits for an event until the span ends.
    pub fn wait_for_event<'a>(&'static self, event: &'a Visit, address: usize) -> Option<Span<'a>> {
        self.span(
            point::WAIT_BEGIN,
            None,
            Some(event),
            None,
            Some(with_address(c"event.wait", address).into()),
        )
    }

    /// The host waits for a queue until the span ends.
    pub fn wait_for_queue<'a>(&'static self, queue: &'a Visit, address: usize) -> Option<Span<'a>> {
        self.span(
            point::WAIT_BEGIN,
            None,
            Some(queue),
            None,
            Some(with_address(c"queue.wait", address).into()),
        )
    }

    /// A command is deferred. The result is for [`Self::barrier_end`], which may be called from another thread.
    pub fn barrier_begin(&'static self, graph: &Visit, node: &Visit, reason: &CStr) -> Option<u64> {
        let begin = self.listeners(point::BARRIER_BEGIN);
        let listeners = begin.or_else(|| self.listeners(point::BARRIER_END))?;
        let instance = listeners.framework().unique_id();
        if let Some(listeners) = begin {
            let text = barrier_text(reason);
            // SAFETY: text.
            unsafe { listeners.send(Some(graph), Some(node), instance, text.as_ptr().cast()) };
        }
        Some(instance)
    }

    /// The command continues.
    pub fn barrier_end(&'static self, graph: &Visit, node: &Visit, instance: u64, reason: &CStr) {
        if let Some(listeners) = self.listeners(point::BARRIER_END) {
            let text = barrier_text(reason);
            // SAFETY: text.
            unsafe { listeners.send(Some(graph), Some(node), instance, text.as_ptr().cast()) };
        }
    }

    /// A queue is created; the same `instance` is passed when it is destroyed.
    pub fn queue_create(&'static self, queue: &Visit, instance: u64) {
        if let Some(listeners) = self.listeners(point::QUEUE_CREATE) {
            // SAFETY: text.
            unsafe { listeners.send(None, Some(queue), instance, c"queue_create".as_ptr().cast()) };
        }
    }

    /// A queue is destroyed.
    pub fn queue_destroy(&'static self, queue: &Visit, instance: u64) {
        if let Some(listeners) = self.listeners(point::QUEUE_DESTROY) {
            // SAFETY: text.
            unsafe {
                listeners.send(
                    None,
                    Some(queue),
                    instance,
                    c"queue_destroy".as_ptr().cast(),
                )
            };
        }
    }

    /// A message for users: an exception was thrown.
    pub fn diagnostics(&'static self, parent: Option<&Visit>, message: &CStr) {
        if let Some(listeners) = self.listeners(point::DIAGNOSTICS) {
            let instance = listeners.framework().unique_id();
            // SAFETY: text.
            unsafe { listeners.send(parent, None, instance, message.as_ptr().cast()) };
        }
    }

    /// A function runs until the span ends.
    pub fn function<'a>(
        &'static self,
        layer: Option<&'a Visit>,
        name: &'static CStr,
    ) -> Option<Span<'a>> {
        self.span(
            point::FUNCTION_BEGIN,
            layer,
            None,
            None,
            Some(Cow::Borrowed(name)),
        )
    }

    /// A function is entered. The result is for [`Self::call_end`]; `None` without listeners to either.
    pub fn call_begin(
        &'static self,
        layer: Option<&Visit>,
        event: Option<&Visit>,
        call: &function_with_args_t,
    ) -> Option<u64> {
        let begin = self.listeners(point::FUNCTION_WITH_ARGS_BEGIN);
        let listeners = begin.or_else(|| self.listeners(point::FUNCTION_WITH_ARGS_END))?;
        let instance = listeners.framework().unique_id();
        if let Some(listeners) = begin {
            // SAFETY: the type's struct.
            unsafe { listeners.send(layer, event, instance, pointer(call)) };
        }
        Some(instance)
    }

    /// The function returns; `call` now has its result.
    pub fn call_end(
        &'static self,
        layer: Option<&Visit>,
        event: Option<&Visit>,
        instance: u64,
        call: &function_with_args_t,
    ) {
        if let Some(listeners) = self.listeners(point::FUNCTION_WITH_ARGS_END) {
            // SAFETY: the type's struct.
            unsafe { listeners.send(layer, event, instance, pointer(call)) };
        }
    }

    /// The sender of struct user data: no event, the layer's event as parent.
    fn data<T>(
        &'static self,
        kind: u16,
        layer: Option<&Visit>,
        event: Option<&Visit>,
        instance: Option<u64>,
        data: &T,
    ) -> u64 {
        let Some(listeners) = self.listeners(kind) else {
            return instance.unwrap_or(0);
        };
        let instance = instance.unwrap_or_else(|| listeners.framework().unique_id());
        // SAFETY: the callers pass the type's struct.
        unsafe { listeners.send(layer, event, instance, pointer(data)) };
        instance
    }

    /// An allocation begins. The result is for [`Self::mem_alloc_end`].
    pub fn mem_alloc_begin(&'static self, layer: &Visit, data: &mem_alloc_data_t) -> u64 {
        self.data(point::MEM_ALLOC_BEGIN, Some(layer), None, None, data)
    }

    /// The allocation has ended.
    pub fn mem_alloc_end(&'static self, layer: &Visit, instance: u64, data: &mem_alloc_data_t) {
        self.data(
            point::MEM_ALLOC_END,
            Some(layer),
            None,
            Some(instance),
            data,
        );
    }

    /// Freeing memory begins. The result is for [`Self::mem_release_end`].
    pub fn mem_release_begin(&'static self, layer: &Visit, data: &mem_alloc_data_t) -> u64 {
        self.data(point::MEM_RELEASE_BEGIN, Some(layer), None, None, data)
    }

    /// The memory is freed.
    pub fn mem_release_end(&'static self, layer: &Visit, instance: u64, data: &mem_alloc_data_t) {
        self.data(
            point::MEM_RELEASE_END,
            Some(layer),
            None,
            Some(instance),
            data,
        );
    }

    /// The program's own memory is allocated or freed, in DPC++'s form: `at` has the location and size. The result is
    /// for [`Self::usm_end`].
    pub fn usm_begin(&'static self, call: UsmCall, graph: Option<&Visit>, at: &Visit) -> u64 {
        self.usm(point::NODE_CREATE, call, graph, at, None);
        self.usm(call.begin(), call, graph, at, None)
    }

    /// The call has ended; `at` now has its result.
    pub fn usm_end(&'static self, call: UsmCall, graph: Option<&Visit>, at: &Visit, instance: u64) {
        self.usm(call.begin() | 1, call, graph, at, Some(instance));
    }

    fn usm(
        &'static self,
        kind: u16,
        call: UsmCall,
        graph: Option<&Visit>,
        at: &Visit,
        instance: Option<u64>,
    ) -> u64 {
        let Some(listeners) = self.listeners(kind) else {
            return instance.unwrap_or(0);
        };
        let instance = instance.unwrap_or_else(|| listeners.framework().unique_id());
        // SAFETY: text, as these types have it where there is an event.
        unsafe { listeners.send(graph, Some(at), instance, call.name().as_ptr().cast()) };
        instance
    }

    /// A buffer is created.
    pub fn buffer_construct(
        &'static self,
        layer: &Visit,
        at: Option<&Visit>,
        data: &offload_buffer_data_t,
    ) {
        self.data(
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT,
            Some(layer),
            at,
            at.map(Visit::instance),
            data,
        );
    }

    /// A buffer is destroyed.
    pub fn buffer_destruct(&'static self, layer: &Visit, data: &offload_buffer_data_t) {
        self.data(
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT,
            Some(layer),
            None,
            None,
            data,
        );
    }

    /// An image is created.
    pub fn image_construct(
        &'static self,
        layer: &Visit,
        at: Option<&Visit>,
        data: &offload_image_data_t,
    ) {
        self.data(
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT,
            Some(layer),
            at,
            at.map(Visit::instance),
            data,
        );
    }

    /// An image is destroyed.
    pub fn image_destruct(&'static self, layer: &Visit, data: &offload_image_data_t) {
        self.data(
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT,
            Some(layer),
            None,
            None,
            data,
        );
    }

    /// A buffer or image got memory on a device.
    pub fn memory_associate(&'static self, layer: &Visit, data: &offload_association_data_t) {
        self.data(
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_ASSOCIATE,
            Some(layer),
            None,
            None,
            data,
        );
    }

    /// The memory was freed; the only notification of its stream without a parent.
    pub fn memory_release(&'static self, data: &offload_association_data_t) {
        self.data(
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_RELEASE,
            None,
            None,
            None,
            data,
        );
    }

    /// An accessor of a buffer is created.
    pub fn accessor(
        &'static self,
        layer: &Visit,
        at: Option<&Visit>,
        data: &offload_accessor_data_t,
    ) {
        self.data(
            point::OFFLOAD_ALLOC_ACCESSOR,
            Some(layer),
            at,
            at.map(Visit::instance),
            data,
        );
    }

    /// An accessor of an image is created.
    pub fn image_accessor(
        &'static self,
        layer: &Visit,
        at: Option<&Visit>,
        data: &offload_image_accessor_data_t,
    ) {
        self.data(
            point::OFFLOAD_ALLOC_ACCESSOR,
            Some(layer),
            at,
            at.map(Visit::instance),
            data,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_value_chooses_the_other_form() {
        for (value, compat) in [
            ("", Some(Compat::Seed)),
            ("seed", Some(Compat::Seed)),
            ("DPCPP", None),
            ("dpcpp", Some(Compat::Dpcpp)),
        ] {
            assert_eq!(named(OsStr::new(value), &Compat::ALL), compat, "{value:?}");
        }
        for (compat, default) in [
            (Compat::Seed, UsmData::Struct),
            (Compat::Dpcpp, UsmData::String),
        ] {
            for (value, data) in [
                ("", Some(default)),
                ("struct", Some(UsmData::Struct)),
                ("text", None),
                ("string", Some(UsmData::String)),
            ] {
                let all = UsmData::all(compat);
                assert_eq!(
                    named(OsStr::new(value), &all),
                    data,
                    "{compat:?}: {value:?}"
                );
            }
        }
        assert_eq!(
            with_address(c"event.wait", 0xAB),
            c"event.wait[ab]".to_owned()
        );
    }

    #[test]
    fn a_location_is_announced_once_or_always() {
        let (sycl, debug) = (Recent::new(), Recent::new());
        assert!(Compat::Seed.announces(c"sycl", &sycl, 77));
        assert!(!Compat::Seed.announces(c"sycl", &sycl, 77));
        assert!(Compat::Seed.announces(c"sycl.debug", &debug, 77));
        assert!(Compat::Seed.announces(c"sycl", &sycl, 78));
        assert!(Compat::Dpcpp.announces(c"sycl", &sycl, 77));
        // More locations than `Recent` has slots: each is announced once.
        for uid in 1000..2000 {
            assert!(Compat::Seed.announces(c"sycl", &sycl, uid));
        }
        for uid in 1000..2000 {
            assert!(!Compat::Seed.announces(c"sycl", &sycl, uid));
        }
    }
}
