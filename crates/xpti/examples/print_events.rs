//! A subscriber: one line on stdout for each notification, without addresses, so that runs can be compared.

use std::ffi::CStr;
use std::io::Write as _;

use xpti::{
    DetailLevel, Event, Notification, StreamInfo, Subscriber, Types, UserData, trace_point_type,
};

struct Printer;

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

fn print(line: &str) {
    // A closed stdout is no reason to fail here.
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
            data => format!("{:?}", data.function()),
        };
        print(&format!(
            "{} {kind} {data}",
            notification.stream().name().to_string_lossy()
        ));
        print(&format!("  parent {}", describe(notification.parent())));
        print(&format!("  event {}", describe(notification.event())));
        if let Some(event) = notification.event() {
            for (key, value) in event.metadata() {
                print(&format!("  {key} = {value:?}"));
            }
            if event.source_id() != 0 {
                print(&format!(
                    "  {:x} -> {:x}",
                    event.source_id(),
                    event.target_id()
                ));
            }
        }
        let framework = notification.framework();
        print(&format!(
            "  universal {:x} stash {:?}",
            framework.universal_id(),
            framework.stashed()
        ));
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
