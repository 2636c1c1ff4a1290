//! SYCL's streams: the XPTI notifications of an unmodified program, as records.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use timeline::record::{Attribute, Domain, Event, NO_RESULT, Text, Value};
use xpti::trace_point_type as point;
use xpti::{DetailLevel, Framework, Notification, StreamInfo, Subscriber, Types, UserData};

use crate::arguments;
use crate::sink::{self, Sink, sink};

/// The subscriber of this process.
pub static RECORDER: Recorder = Recorder;

/// Writes notifications to the recording.
pub struct Recorder;

/// The streams that are recorded by default. `ur.call.debug` and `sycl.debug` would replace their less detailed
/// variants under DPC++.
const STREAMS: &str = "sycl,ur.call,sycl.pi.debug,sycl.experimental.mem_alloc,sycl.experimental.buffer,sycl.experimental.image";

fn heard(stream: &CStr) -> bool {
    static CHOSEN: OnceLock<String> = OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| {
        sink::variable("SOLUM_TRACE_STREAMS").map_or_else(
            || STREAMS.to_owned(),
            |value| String::from_utf8_lossy(&value).into_owned(),
        )
    });
    let stream = stream.to_bytes();
    chosen
        .split(',')
        .any(|name| name.trim().as_bytes() == stream)
}

/// Set when a framework has announced a stream: from then on it can be asked for universal ids.
static FRAMEWORK_TALKS: AtomicBool = AtomicBool::new(false);

/// The command that this thread is handing over.
#[derive(Clone, Copy, Default)]
pub(crate) struct Task {
    /// Its location.
    pub(crate) uid: u64,
    /// The command.
    pub(crate) instance: u64,
}

/// The nesting depth of tasks that are distinguished.
const DEPTH: usize = 8;

thread_local! {
    static TASKS: Cell<([Task; DEPTH], usize)> = const { Cell::new(([Task { uid: 0, instance: 0 }; DEPTH], 0)) };
}

fn enter(task: Task) {
    let (mut tasks, depth) = TASKS.get();
    if let Some(place) = tasks.get_mut(depth) {
        *place = task;
    }
    TASKS.set((tasks, depth + 1));
}

fn leave() {
    let (tasks, depth) = TASKS.get();
    TASKS.set((tasks, depth.saturating_sub(1)));
}

/// The task that this thread is submitting, with XPTI's universal id if that is set.
pub(crate) fn on_behalf() -> Task {
    let (tasks, depth) = TASKS.get();
    let mut task = match depth {
        0 => Task::default(),
        _ => tasks[(depth - 1).min(DEPTH - 1)],
    };
    if FRAMEWORK_TALKS.load(Ordering::Relaxed)
        && let Some(framework) = Framework::get()
    {
        let uid = framework.universal_id();
        if uid != 0 {
            task.uid = uid;
        }
    }
    task
}

impl Subscriber for Recorder {
    fn stream_initialized(&self, stream: &StreamInfo) -> Types {
        // A stream that is not recorded opens no recording: XPTI may only be trying whether this library starts.
        if !heard(stream.name()) || sink().is_none() {
            return Types::None;
        }
        FRAMEWORK_TALKS.store(true, Ordering::Relaxed);
        Types::Some(vec![
            point::NODE_CREATE,
            point::EDGE_CREATE,
            point::TASK_BEGIN,
            point::TASK_END,
            point::BARRIER_BEGIN,
            point::BARRIER_END,
            point::WAIT_BEGIN,
            point::WAIT_END,
            point::FUNCTION_BEGIN,
            point::FUNCTION_END,
            point::FUNCTION_WITH_ARGS_BEGIN,
            point::FUNCTION_WITH_ARGS_END,
            point::MEM_ALLOC_BEGIN,
            point::MEM_ALLOC_END,
            point::MEM_RELEASE_BEGIN,
            point::MEM_RELEASE_END,
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT,
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT,
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_ASSOCIATE,
            point::OFFLOAD_ALLOC_MEMORY_OBJECT_RELEASE,
            point::OFFLOAD_ALLOC_ACCESSOR,
            point::QUEUE_CREATE,
            point::QUEUE_DESTROY,
            point::DIAGNOSTICS,
        ])
    }

    fn notify(&self, notification: &Notification<'_>) {
        if let Some(sink) = sink() {
            record(sink, notification);
        }
    }

    fn stream_finished(&self, _: &CStr) {
        sink::finish();
    }

    fn detail_level(&self, stream: &CStr) -> Option<DetailLevel> {
        heard(stream).then_some(DetailLevel::Normal)
    }
}

/// A label without the address that DPC++ appends in brackets, and that address.
fn split(label: &str) -> (&str, Option<u64>) {
    let Some(open) = label.rfind('[') else {
        return (label, None);
    };
    let inner = label[open + 1..].trim_end_matches(']');
    let digits = inner.strip_prefix("0x").unwrap_or(inner);
    match u64::from_str_radix(digits, 16) {
        Ok(number) => (&label[..open], Some(number)),
        Err(_) => (label, None),
    }
}

/// Attributes of a record, gathered.
struct Attributes<'a> {
    sink: &'a Sink,
    all: Vec<Attribute>,
}

impl<'a> Attributes<'a> {
    fn new(sink: &'a Sink) -> Self {
        Self {
            sink,
            all: Vec::new(),
        }
    }

    fn add(&mut self, key: &str, value: Value) {
        let key = self.sink.text(key.as_bytes());
        self.all.push(Attribute { key, value });
    }
}

/// Metadata of a node or allocation, besides the attributes that are recorded unchanged.
#[derive(Default)]
struct Told {
    kernel: Text,
    bytes: u64,
    pointer: u64,
}

fn metadata(sink: &Sink, event: &xpti::Event<'_>, attributes: &mut Attributes<'_>) -> Told {
    let mut told = Told::default();
    for (key, value) in event.metadata() {
        let value = match value {
            xpti::Value::Text(text) => Value::Text(sink.text(text.as_bytes())),
            xpti::Value::Signed(number) => Value::Signed(number),
            xpti::Value::Unsigned(number) if addresses(&key) => Value::Address(number),
            xpti::Value::Unsigned(number) => Value::Unsigned(number),
            xpti::Value::Floating(number) => Value::Float(number),
            xpti::Value::Boolean(truth) => Value::Boolean(truth),
            xpti::Value::Binary(_) => continue,
        };
        match (&*key, value) {
            ("kernel_name", Value::Text(name)) => told.kernel = name,
            ("memory_size", Value::Unsigned(bytes)) => told.bytes = bytes,
            ("memory_ptr", Value::Address(pointer)) => told.pointer = pointer,
            _ => {}
        }
        attributes.add(&key, value);
    }
    told
}

/// Whether a number of this name is an address or a handle.
fn addresses(key: &str) -> bool {
    key.ends_with("_ptr")
        || matches!(
            key,
            "sycl_device"
                | "sycl_context"
                | "queue_handle"
                | "memory_object"
                | "event"
                | "copy_from"
                | "copy_to"
        )
}

fn text_of(data: &UserData<'_>) -> Cow<'static, str> {
    match data {
        UserData::Text(text) => Cow::Owned(text.clone().into_owned()),
        _ => Cow::Borrowed(""),
    }
}

/// Names on the memory stream whose begins and ends are calls.
const MEMORY: &CStr = c"sycl.experimental.mem_alloc";

#[expect(
    clippy::too_many_lines,
    reason = "one arm for each type of notification"
)]
fn record(sink: &Sink, notification: &Notification<'_>) {
    let data = notification.user_data();
    let event = notification.event();
    let uid = event.as_ref().map_or(0, xpti::Event::unique_id);
    match notification.kind() {
        // On the memory stream a node announces an allocation: its begin and end follow.
        point::NODE_CREATE if notification.stream().name() == MEMORY => {
            let payload = event.and_then(|event| event.payload());
            let label = payload.and_then(|p| p.name()).unwrap_or_default();
            let file = payload.and_then(|p| p.source_file()).unwrap_or_default();
            let known = !file.starts_with('<');
            let place = Event::Place {
                uid,
                function: sink.text(split(&label).0.as_bytes()),
                file: if known { sink.text(file.as_bytes()) } else { 0 },
                line: payload.and_then(|p| p.line()).unwrap_or(0),
                column: payload.and_then(|p| p.column()).unwrap_or(0),
            };
            sink.emit(&place, &[]);
        }
        point::NODE_CREATE => {
            let Some(event) = event else { return };
            let mut attributes = Attributes::new(sink);
            let told = metadata(sink, &event, &mut attributes);
            let payload = event.payload();
            let label = payload.and_then(|p| p.name()).unwrap_or_default();
            let (label, object) = split(&label);
            if let Some(object) = object {
                attributes.add("object", Value::Address(object));
            }
            let label = sink.text(label.as_bytes());
            let file = payload.and_then(|p| p.source_file()).unwrap_or_default();
            let known = payload.filter(|_| !file.starts_with('<'));
            sink.emit(
                &Event::Node {
                    name: if told.kernel == 0 { label } else { told.kernel },
                    kind: sink.text(text_of(&data).as_bytes()),
                    uid,
                    instance: notification.instance(),
                    function: label,
                    file: known.map_or(0, |_| sink.text(file.as_bytes())),
                    line: payload.and_then(|p| p.line()).unwrap_or(0),
                    column: payload.and_then(|p| p.column()).unwrap_or(0),
                },
                &attributes.all,
            );
        }
        point::EDGE_CREATE => {
            let Some(event) = event else { return };
            let mut attributes = Attributes::new(sink);
            metadata(sink, &event, &mut attributes);
            let label = event.payload().and_then(|p| p.name()).unwrap_or_default();
            let name = sink.text(split(&label).0.as_bytes());
            let edge = Event::Edge {
                name,
                source: event.source_id(),
                target: event.target_id(),
            };
            sink.emit(&edge, &attributes.all);
        }
        point::TASK_BEGIN => {
            let instance = notification.instance();
            enter(Task { uid, instance });
            let label = event
                .and_then(|event| event.payload()?.name())
                .unwrap_or_default();
            let begin = Event::Begin {
                domain: Domain::Sycl,
                name: sink.text(split(&label).0.as_bytes()),
                uid,
                instance,
            };
            sink.emit(&begin, &[]);
        }
        point::TASK_END => {
            sink.emit(&end(Domain::Sycl), &[]);
            leave();
        }
        point::BARRIER_BEGIN | point::WAIT_BEGIN => {
            let text = text_of(&data);
            let (label, object) = split(&text);
            let name = sink.text(label.as_bytes());
            let object = object.map(|object| Attribute {
                key: sink.text(b"event"),
                value: Value::Address(object),
            });
            let begin = Event::Begin {
                domain: Domain::Wait,
                name,
                uid,
                instance: 0,
            };
            sink.emit(&begin, object.as_slice());
        }
        point::BARRIER_END | point::WAIT_END => sink.emit(&end(Domain::Wait), &[]),
        point::FUNCTION_BEGIN => call(sink, &text_of(&data)),
        point::FUNCTION_END => sink.emit(&end(Domain::UnifiedRuntime), &[]),
        point::FUNCTION_WITH_ARGS_BEGIN => {
            if let Some((name, _)) = data.function() {
                call(sink, &name);
            }
        }
        point::FUNCTION_WITH_ARGS_END => {
            let UserData::FunctionWithArgs(call) = &data else {
                return sink.emit(&end(Domain::UnifiedRuntime), &[]);
            };
            let result = if call.ret_data.is_null() {
                NO_RESULT
            } else {
                // SAFETY: DPC++ points to the call's 32-bit result at its end.
                i64::from(unsafe { call.ret_data.cast::<i32>().read_unaligned() })
            };
            let name = data.function().map(|(name, _)| name).unwrap_or_default();
            let given = arguments::unified_runtime(sink, notification.stream(), &name, call);
            let end = Event::End {
                domain: Domain::UnifiedRuntime,
                result,
            };
            sink.emit(&end, &given);
        }
        kind @ (point::MEM_ALLOC_BEGIN
        | point::MEM_ALLOC_END
        | point::MEM_RELEASE_BEGIN
        | point::MEM_RELEASE_END) => memory(sink, kind, event, &data, uid),
        point::OFFLOAD_ALLOC_MEMORY_OBJECT_CONSTRUCT => mark(sink, "buffer created", uid, &data),
        point::OFFLOAD_ALLOC_MEMORY_OBJECT_DESTRUCT => mark(sink, "buffer destroyed", uid, &data),
        point::OFFLOAD_ALLOC_MEMORY_OBJECT_ASSOCIATE => {
            mark(sink, "buffer gets device memory", uid, &data);
        }
        point::OFFLOAD_ALLOC_MEMORY_OBJECT_RELEASE => {
            mark(sink, "buffer frees device memory", uid, &data);
        }
        point::OFFLOAD_ALLOC_ACCESSOR => mark(sink, "accessor", uid, &data),
        kind @ (point::QUEUE_CREATE | point::QUEUE_DESTROY) => {
            let Some(event) = event else { return };
            let mut attributes = Attributes::new(sink);
            metadata(sink, &event, &mut attributes);
            let queue = Event::Queue {
                queue: notification.instance(),
                made: kind == point::QUEUE_CREATE,
                device: 0,
            };
            sink.emit(&queue, &attributes.all);
        }
        point::DIAGNOSTICS => {
            let name = sink.text(text_of(&data).as_bytes());
            sink.emit(&Event::Mark { name, uid }, &[]);
        }
        _ => {}
    }
}

const fn end(domain: Domain) -> Event {
    Event::End {
        domain,
        result: NO_RESULT,
    }
}

fn call(sink: &Sink, name: &str) {
    let task = on_behalf();
    let begin = Event::Begin {
        domain: Domain::UnifiedRuntime,
        name: sink.text(name.as_bytes()),
        uid: task.uid,
        instance: task.instance,
    };
    sink.emit(&begin, &[]);
}

/// Allocations and releases. USM has an event with all metadata; buffers have none.
fn memory(sink: &Sink, kind: u16, event: Option<xpti::Event<'_>>, data: &UserData<'_>, uid: u64) {
    let mut attributes = Attributes::new(sink);
    let (what, pointer, bytes) = match (&event, data) {
        (Some(event), data) => {
            let told = metadata(sink, event, &mut attributes);
            (text_of(data), told.pointer, told.bytes)
        }
        (None, UserData::MemAlloc(buffer)) => {
            let pointer = match buffer.alloc_pointer {
                0 => buffer.mem_object_handle,
                pointer => pointer,
            };
            (
                Cow::Borrowed("buffer"),
                pointer as u64,
                buffer.alloc_size as u64,
            )
        }
        _ => return,
    };
    let name = sink.text(what.as_bytes());
    match kind {
        point::MEM_ALLOC_BEGIN | point::MEM_RELEASE_BEGIN => {
            let begin = Event::Begin {
                domain: Domain::Memory,
                name,
                uid,
                instance: 0,
            };
            sink.emit(&begin, &attributes.all);
            if kind == point::MEM_RELEASE_BEGIN && pointer != 0 {
                let release = Event::Release {
                    domain: Domain::Memory,
                    pointer,
                };
                sink.emit(&release, &[]);
            }
        }
        _ => {
            if kind == point::MEM_ALLOC_END && pointer != 0 {
                let made = Event::Allocate {
                    domain: Domain::Memory,
                    kind: name,
                    pointer,
                    bytes,
                    uid,
                };
                sink.emit(&made, &attributes.all);
            }
            sink.emit(&end(Domain::Memory), &[]);
        }
    }
}

/// A mark about a buffer, an image or an accessor.
fn mark(sink: &Sink, what: &str, uid: u64, data: &UserData<'_>) {
    let mut attributes = Attributes::new(sink);
    match data {
        UserData::Buffer(buffer) => {
            attributes.add("buffer", Value::Address(buffer.user_object_handle as u64));
            if buffer.dim != 0 {
                attributes.add("host", Value::Address(buffer.host_object_handle as u64));
                attributes.add("element bytes", Value::Unsigned(buffer.element_size.into()));
                let dimensions = (buffer.dim as usize).min(3);
                let elements = buffer.range[..dimensions]
                    .iter()
                    .fold(1u64, |product, side| product.saturating_mul(*side as u64));
                attributes.add("elements", Value::Unsigned(elements));
            }
        }
        UserData::Image(image) => {
            attributes.add("image", Value::Address(image.user_object_handle as u64));
        }
        UserData::Association(pair) => {
            attributes.add("buffer", Value::Address(pair.user_object_handle as u64));
            attributes.add("memory", Value::Address(pair.mem_object_handle as u64));
        }
        UserData::Accessor(accessor) => {
            attributes.add("buffer", Value::Address(accessor.buffer_handle as u64));
            attributes.add("target", Value::Unsigned(accessor.target.into()));
            attributes.add("mode", Value::Unsigned(accessor.mode.into()));
        }
        _ => {}
    }
    let name = sink.text(what.as_bytes());
    sink.emit(&Event::Mark { name, uid }, &attributes.all);
}
