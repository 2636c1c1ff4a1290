//! The streams, the process's graph on them, and the layers of memory and calls.

use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::sync::{Mutex, OnceLock, PoisonError};

use xpti::{
    DetailLevel, Listeners, Location, Stream, Visit, event_type, trace_point_type as point,
};

use crate::error::Error;

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

/// Whether a subscriber listens to any type of a stream.
pub(super) fn any(stream: &'static Stream) -> Option<Listeners> {
    stream.listeners(0)
}

/// The listeners of the graph.
pub(super) fn graph_listeners() -> Option<Listeners> {
    any(&SYCL).or_else(|| any(&DEBUG))
}

/// Sends on both streams of the graph.
pub(super) fn both(send: impl Fn(&'static Stream)) {
    GRAPH.into_iter().for_each(send);
}

/// Whether a subscriber wants source locations: the default level and above.
pub(super) fn wants_locations() -> bool {
    any(&DEBUG).is_some() || matches!(SYCL.detail(), DetailLevel::Normal | DetailLevel::Verbose)
}

/// Whether a subscriber wants kernels' arguments.
pub(super) fn wants_arguments() -> bool {
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
                // The streams belong to the parent process.
                if crate::process::is_fork() {
                    return;
                }
                // Nothing can catch a panic at the end of the process.
                let _ = std::panic::catch_unwind(xpti::finish_all);
            }
            // SAFETY: a function without arguments that does not unwind.
            let _ = unsafe { libc::atexit(finish) };
        }
        let _ = graph();
    });
}

/// The process's one graph, created when a subscriber first listens.
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

/// The parent event of all notifications of a layer.
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

pub(super) fn named(name: &str) -> Location {
    Location {
        name: Cow::Owned(c_text(name)),
        file: Cow::Borrowed(c""),
        line: 0,
        column: 0,
    }
}

/// Reports an error that the program gets.
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
