//! The streams, the process's graph on them, and the layers of memory and calls.

use std::ffi::CStr;
use std::fmt::{Arguments, Write};
use std::sync::OnceLock;

use smallvec::SmallVec;
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
            let mut graph = listeners.visit(&Location::named(c"sycl.application.graph"))?;
            graph.set_event_type(event_type::GRAPH);
            both(|stream| stream.graph_create(&graph));
            Some(graph)
        })
        .as_ref()
}

/// The parent event of all notifications of a stream, created when a subscriber first listens.
pub(super) struct Layer {
    stream: &'static Stream,
    name: &'static CStr,
    visit: OnceLock<Option<Visit>>,
}

impl Layer {
    pub(super) const fn new(stream: &'static Stream, name: &'static CStr) -> Self {
        Self {
            stream,
            name,
            visit: OnceLock::new(),
        }
    }

    /// The event and the listeners; `None` without any, or if the framework is out of memory.
    pub(super) fn listeners(&'static self) -> Option<(&'static Visit, Listeners)> {
        let listeners = any(self.stream)?;
        let visit = self
            .visit
            .get_or_init(|| listeners.visit(&Location::named(self.name)));
        Some((visit.as_ref()?, listeners))
    }
}

/// A C string, without an allocation if it is short; NULs inside become spaces.
#[derive(Debug)]
pub(super) struct ShortText(SmallVec<[u8; 128]>);

impl ShortText {
    pub(super) fn new(text: &str) -> Self {
        let mut all = Self(SmallVec::new());
        all.0.extend_from_slice(text.as_bytes());
        all.end();
        all
    }

    /// The text of `format_args!`.
    pub(super) fn format(text: Arguments<'_>) -> Self {
        let mut all = Self(SmallVec::new());
        // Writing to memory does not fail.
        let _ = all.write_fmt(text);
        all.end();
        all
    }

    fn end(&mut self) {
        for byte in self.0.as_mut_slice() {
            *byte = if *byte == 0 { b' ' } else { *byte };
        }
        self.0.push(0);
    }
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl std::ops::Deref for ShortText {
    type Target = CStr;

    fn deref(&self) -> &CStr {
        // SAFETY: `end` put the only NUL at the end.
        unsafe { CStr::from_bytes_with_nul_unchecked(&self.0) }
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
    let parent = PARENT.get_or_init(|| listeners.visit(&Location::named(c"sycl.exceptions")));
    let text = ShortText::new(&error.to_string());
    both(|stream| stream.diagnostics(parent.as_ref(), &text));
}
