//! The arguments of a callback, with pointers turned into borrowed values.

use core::ffi::c_void;
use std::borrow::Cow;

use xpti_sys::trace_point_type as point;
use xpti_sys::{
    function_with_args_t, mem_alloc_data_t, offload_accessor_data_t, offload_association_data_t,
    offload_buffer_data_t, offload_image_accessor_data_t, offload_image_data_t, trace_event_data_t,
};

use crate::framework::Framework;
use crate::metadata::Metadata;
use crate::payload::Payload;
use crate::raw::{read, text};
use crate::stream_info::StreamInfo;

/// One notification; borrowed during the callback.
#[derive(Debug)]
pub struct Notification<'a> {
    pub(crate) framework: &'static Framework,
    pub(crate) stream: &'a StreamInfo,
    pub(crate) kind: u16,
    pub(crate) parent: *const trace_event_data_t,
    pub(crate) event: *const trace_event_data_t,
    pub(crate) instance: u64,
    pub(crate) user_data: *const c_void,
}

impl<'a> Notification<'a> {
    /// The stream that sent it.
    pub fn stream(&self) -> &'a StreamInfo {
        self.stream
    }

    /// [`crate::trace_point_type`].
    pub fn kind(&self) -> u16 {
        self.kind
    }

    /// The parent of the event: the graph, or the event of the layer.
    pub fn parent(&self) -> Option<Event<'a>> {
        Event::from_raw(self.parent, self.framework)
    }

    /// The event.
    pub fn event(&self) -> Option<Event<'a>> {
        Event::from_raw(self.event, self.framework)
    }

    /// Links a begin with its end.
    pub fn instance(&self) -> u64 {
        self.instance
    }

    /// The sending framework: it provides thread-local ids and tuples.
    pub fn framework(&self) -> &'static Framework {
        self.framework
    }

    /// User data, read according to the stream and the type.
    pub fn user_data(&self) -> UserData<'a> {
        let data = self.user_data;
        if data.is_null() {
            return UserData::None;
        }
        let image = self.stream.name() == c"sycl.experimental.image";
        let known = match self.kind {
            point::FUNCTION_WITH_ARGS_BEGIN | point::FUNCTION_WITH_ARGS_END => {
                read(data).map(UserData::FunctionWithArgs)
            }
            // DPC++ passes a string with an event (USM), and the struct without one (buffers).
            point::MEM_ALLOC_BEGIN..=point::MEM_RELEASE_END if self.event.is_null() => {
                read(data).map(UserData::MemAlloc)
            }
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT
            | point::OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT
                if image =>
            {
                read(data).map(UserData::Image)
            }
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT
            | point::OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT => read(data).map(UserData::Buffer),
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_ASSOCIATE
            | point::OFFLOAD_ALLOC_MEMORY_OBJECT_RELEASE => read(data).map(UserData::Association),
            point::OFFLOAD_ALLOC_ACCESSOR if image => read(data).map(UserData::ImageAccessor),
            point::OFFLOAD_ALLOC_ACCESSOR => read(data).map(UserData::Accessor),
            point::NODE_CREATE
            | point::MEM_ALLOC_BEGIN..=point::MEM_RELEASE_END
            | point::TASK_BEGIN
            | point::TASK_END
            | point::BARRIER_BEGIN
            | point::BARRIER_END
            | point::WAIT_BEGIN
            | point::WAIT_END
            | point::FUNCTION_BEGIN
            | point::FUNCTION_END
            | point::QUEUE_CREATE
            | point::QUEUE_DESTROY
            | point::DIAGNOSTICS => text(data.cast()).map(UserData::Text),
            point::SIGNAL => Some(UserData::Handle(data.addr())),
            _ => None,
        };
        known.unwrap_or(UserData::Unknown(data))
    }
}

/// User data of a notification.
#[derive(Clone, Debug)]
pub enum UserData<'a> {
    /// Null.
    None,
    /// A name, a node's kind, a message.
    Text(Cow<'a, str>),
    /// A native handle.
    Handle(usize),
    /// A call with its arguments.
    FunctionWithArgs(&'a function_with_args_t),
    /// Memory of a buffer.
    MemAlloc(&'a mem_alloc_data_t),
    /// A buffer.
    Buffer(&'a offload_buffer_data_t),
    /// An image.
    Image(&'a offload_image_data_t),
    /// An accessor of a buffer.
    Accessor(&'a offload_accessor_data_t),
    /// An accessor of an image.
    ImageAccessor(&'a offload_image_accessor_data_t),
    /// A buffer's memory on a device.
    Association(&'a offload_association_data_t),
    /// User data of a type without a fixed form, such as a tool's own.
    Unknown(*const c_void),
}

impl UserData<'_> {
    /// The function's name and number, for a call with arguments.
    pub fn function(&self) -> Option<(Cow<'_, str>, u32)> {
        match self {
            Self::FunctionWithArgs(call) => Some((text(call.function_name)?, call.function_id)),
            _ => None,
        }
    }
}

/// One visit of a location.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    raw: &'a trace_event_data_t,
    framework: &'static Framework,
}

impl<'a> Event<'a> {
    fn from_raw(raw: *const trace_event_data_t, framework: &'static Framework) -> Option<Self> {
        // SAFETY: null, or an event that lives during the callback; `'a` ends with it.
        unsafe { raw.as_ref() }.map(|raw| Self { raw, framework })
    }

    /// Id of the location: stable for the process under our framework; an address under Intel's, reused.
    pub fn unique_id(&self) -> u64 {
        self.raw.unique_id
    }

    /// The number of the visit of the location, from 1.
    pub fn instance_id(&self) -> u64 {
        self.raw.instance_id
    }

    /// [`crate::event_type`].
    pub fn event_type(&self) -> u16 {
        self.raw.event_type
    }

    /// For an edge: the source node.
    pub fn source_id(&self) -> u64 {
        self.raw.source_id
    }

    /// For an edge: the target node.
    pub fn target_id(&self) -> u64 {
        self.raw.target_id
    }

    /// The event's address: identifies it while it lives.
    pub fn address(&self) -> usize {
        core::ptr::from_ref(self.raw).addr()
    }

    /// The location.
    pub fn payload(&self) -> Option<Payload<'a>> {
        // SAFETY: the event's payload lives as long as the event.
        unsafe { Payload::from_raw(self.raw.payload) }
    }

    /// Its metadata, names and values.
    pub fn metadata(&self) -> Metadata<'a> {
        Metadata::new(&self.raw.metadata, self.framework)
    }
}
