//! A subscriber that prints one line for each notification, without addresses, so that runs can be compared.

use std::ffi::CStr;
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use xpti::{
    DetailLevel, Event, Notification, StreamInfo, Subscriber, Types, UserData, Value,
    trace_point_type,
};

struct Printer;

/// Threads that notified so far.
static THREADS: AtomicU32 = AtomicU32::new(0);

fn describe(event: Option<Event<'_>>) -> String {
    let Some(event) = event else {
        return "-".to_owned();
    };
    let payload = event.payload();
    let text = payload.map_or_else(String::new, |payload| {
        format!(
            "{}|{}|{}:{}",
            payload.name().unwrap_or_default().escape_debug(),
            payload.source_file().unwrap_or_default(),
            payload.line().unwrap_or(0),
            payload.column().unwrap_or(0)
        )
    });
    format!(
        "{text}#{} uid={:x} type={}",
        event.instance_id(),
        event.unique_id(),
        event.event_type()
    )
}

fn optional(value: xpti::sys::optional_u32) -> String {
    match value.engaged {
        0 => "-".to_owned(),
        _ => value.value.to_string(),
    }
}

/// A value; for a kernel argument without its address.
fn shown(key: &str, value: &Value<'_>) -> String {
    let Value::Binary(bytes) = value else {
        return format!("{value:?}");
    };
    let number = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_ne_bytes)
    };
    match (key, bytes.len()) {
        ("enqueue_kernel_data", 80) => {
            let numbers: Vec<u32> = (0..80).step_by(8).map(number).collect();
            format!(
                "global {:?} local {:?} offset {:?} args {}",
                &numbers[..3],
                &numbers[3..6],
                &numbers[6..9],
                numbers[9]
            )
        }
        (key, 24) if key.starts_with("arg") => format!(
            "kind {} size {} index {}",
            number(0),
            number(16),
            number(20)
        ),
        _ => format!("{value:?}"),
    }
}

/// Text of an emitter, which may be missing.
fn text(characters: *const std::ffi::c_char) -> String {
    if characters.is_null() {
        return String::new();
    }
    // SAFETY: not null, and a string that lives as long as the notification, as the specification has it.
    let text = unsafe { CStr::from_ptr(characters) };
    text.to_string_lossy().into_owned()
}

fn print(line: &str) {
    // A closed stdout is not an error here.
    let _ = writeln!(std::io::stdout(), "{line}");
}

impl Subscriber for Printer {
    fn stream_initialized(&self, stream: &StreamInfo) -> Types {
        let (major, minor) = stream.numbers();
        print(&format!(
            "init {:?} {major}.{minor} {:?}",
            stream.name(),
            stream.version()
        ));
        match std::env::var("PRINT_EVENTS_TYPES") {
            Ok(list) => Types::Some(
                list.split(',')
                    .filter_map(|kind| kind.parse().ok())
                    .collect(),
            ),
            Err(_) => Types::All,
        }
    }

    fn notify(&self, notification: &Notification<'_>) {
        assert!(
            std::env::var_os("PRINT_EVENTS_PANIC").is_none(),
            "asked to panic"
        );
        let kind = trace_point_type::name(notification.kind()).unwrap_or("?");
        let data = match notification.user_data() {
            UserData::None => "-".to_owned(),
            UserData::Text(text) => format!("{text:?}"),
            UserData::Handle(handle) => format!("{handle:#x}"),
            UserData::MemAlloc(memory) => {
                format!("{}@{:#x}", memory.alloc_size, memory.alloc_pointer)
            }
            UserData::Buffer(buffer) => format!(
                "#{} over={} of={:?}x{} {:?}",
                buffer.user_object_handle,
                buffer.host_object_handle != 0,
                text(buffer.element_type),
                buffer.element_size,
                &buffer.range[..(buffer.dim as usize).min(3)]
            ),
            UserData::Accessor(accessor) => format!(
                "#{} target={} mode={}",
                accessor.buffer_handle, accessor.target, accessor.mode
            ),
            UserData::Image(image) => format!(
                "#{} over={} format={} {:?} addressing={} normalization={} filtering={}",
                image.user_object_handle,
                image.host_object_handle != 0,
                image.format,
                &image.range[..(image.dim as usize).min(3)],
                optional(image.addressing),
                optional(image.coordinate_normalization),
                optional(image.filtering)
            ),
            UserData::ImageAccessor(accessor) => format!(
                "#{} target={} mode={} of={:?}x{}",
                accessor.image_handle,
                optional(accessor.target),
                optional(accessor.mode),
                text(accessor.element_type),
                accessor.element_size
            ),
            UserData::Association(memory) => format!("#{}", memory.user_object_handle),
            data => format!("{:?}", data.function()),
        };
        thread_local!(static THREAD: u32 = THREADS.fetch_add(1, Ordering::Relaxed));
        let mut lines = format!(
            "{} {kind} {data}",
            notification.stream().name().to_string_lossy()
        );
        let mut line = |text: String| {
            lines.push_str("\n  ");
            lines.push_str(&text);
        };
        if std::env::var_os("PRINT_EVENTS_THREADS").is_some() {
            line(format!("thread {}", THREAD.with(|number| *number)));
        }
        line(format!("parent {}", describe(notification.parent())));
        line(format!("event {}", describe(notification.event())));
        if let Some(event) = notification.event() {
            for (key, value) in event.metadata() {
                line(format!("{key} = {}", shown(&key, &value)));
            }
            if event.source_id() != 0 {
                line(format!(
                    "{:x} -> {:x}",
                    event.source_id(),
                    event.target_id()
                ));
            }
        }
        let framework = notification.framework();
        line(format!(
            "universal {:x} stash {:?}",
            framework.universal_id(),
            framework.stashed()
        ));
        // One write, because threads notify at the same time.
        print(&lines);
    }

    fn stream_finished(&self, stream: &CStr) {
        print(&format!("finish {stream:?}"));
    }

    fn detail_level(&self, _: &CStr) -> Option<DetailLevel> {
        Some(DetailLevel::Verbose)
    }
}

static PRINTER: Printer = Printer;
xpti::export_subscriber!(PRINTER);
