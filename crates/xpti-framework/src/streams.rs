//! Numbers of streams and of tools that define types, and the process's defaults.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicUsize, Ordering};

use xpti_sys::{
    FRAMEWORK_STREAM, FRAMEWORK_STREAM_ID, INVALID_STREAM, INVALID_USER_DEFINED, detail_level,
    event_type, result, stream_id_t, trace_point_type,
};

use crate::sync::Lock;

pub(crate) static LOCK: Lock = Lock::new();

/// Names in the order of their numbers; read without the lock, added under it, never removed.
struct Names {
    names: [AtomicPtr<c_char>; 255],
    count: AtomicUsize,
}

impl Names {
    const fn new() -> Self {
        Self {
            names: [const { AtomicPtr::new(core::ptr::null_mut()) }; 255],
            count: AtomicUsize::new(0),
        }
    }

    fn find(&self, name: &CStr) -> Option<usize> {
        let count = self.count.load(Ordering::Acquire);
        self.names[..count].iter().position(|known| {
            // SAFETY: names that were counted are C strings and live forever.
            let known = unsafe { CStr::from_ptr(known.load(Ordering::Relaxed)) };
            known == name
        })
    }

    /// The name's index, a new one below `most` if it has none.
    fn place(&self, name: &CStr, most: usize) -> Option<usize> {
        if let Some(at) = self.find(name) {
            return Some(at);
        }
        let _held = LOCK.hold();
        if let Some(at) = self.find(name) {
            return Some(at);
        }
        let at = self.count.load(Ordering::Relaxed);
        let slot = self.names[..most].get(at)?;
        slot.store(name.to_owned().into_raw(), Ordering::Relaxed);
        self.count.store(at + 1, Ordering::Release);
        Some(at)
    }
}

/// Streams from number 2.
static STREAMS: Names = Names::new();
/// Tools from number 1.
static TOOLS: Names = Names::new();

const FIRST_STREAM: usize = FRAMEWORK_STREAM_ID as usize + 1;

/// The stream's number, which never changes; a new name gets a new one. [`INVALID_STREAM`] if all are used.
pub fn register(name: &CStr) -> stream_id_t {
    if name == FRAMEWORK_STREAM {
        return FRAMEWORK_STREAM_ID;
    }
    STREAMS
        .place(name, usize::from(INVALID_STREAM) - FIRST_STREAM)
        .map_or(INVALID_STREAM, |at| (at + FIRST_STREAM) as stream_id_t)
}

/// The number of a stream that was registered.
pub fn find(name: &CStr) -> Option<stream_id_t> {
    if name == FRAMEWORK_STREAM {
        return Some(FRAMEWORK_STREAM_ID);
    }
    STREAMS
        .find(name)
        .map(|at| (at + FIRST_STREAM) as stream_id_t)
}

/// The number of a tool's own type: the tool's number in the high byte, bit 7, and 7 bits that the tool chooses. Trace
/// point types and event types share the tools. [`INVALID_USER_DEFINED`] if all tools' numbers are used.
pub fn user_defined(tool: &CStr, number: u8) -> u16 {
    match TOOLS.place(tool, 255) {
        Some(at) => {
            (at as u16 + 1) << 8 | trace_point_type::USER_DEFINED | u16::from(number & 0x7F)
        }
        None => INVALID_USER_DEFINED,
    }
}

static LEVELS: [AtomicU8; 256] = [const { AtomicU8::new(detail_level::NORMAL) }; 256];

/// The detail to send on the stream.
pub fn detail(stream: stream_id_t) -> u8 {
    LEVELS[usize::from(stream)].load(Ordering::Relaxed)
}

pub(crate) fn set_detail(stream: stream_id_t, level: u8) {
    LEVELS[usize::from(stream)].store(level.min(detail_level::VERBOSE), Ordering::Relaxed);
}

static DEFAULT_STREAM: AtomicU8 = AtomicU8::new(FRAMEWORK_STREAM_ID);
static DEFAULT_EVENT_TYPE: AtomicU16 = AtomicU16::new(event_type::ALGORITHM);
static DEFAULT_TRACE_TYPE: AtomicU16 = AtomicU16::new(trace_point_type::FUNCTION_BEGIN);
static SCOPE_NOTIFICATION: AtomicBool = AtomicBool::new(false);

/// The stream on which scopes notify.
#[inline]
pub fn default_stream() -> stream_id_t {
    DEFAULT_STREAM.load(Ordering::Relaxed)
}

/// Sets [`default_stream`]; INVALIDARG above 127.
pub fn set_default_stream(stream: stream_id_t) -> i32 {
    if stream > 127 {
        return result::INVALIDARG;
    }
    DEFAULT_STREAM.store(stream, Ordering::Relaxed);
    result::SUCCESS
}

/// The event type of scopes.
#[inline]
pub fn default_event_type() -> u16 {
    DEFAULT_EVENT_TYPE.load(Ordering::Relaxed)
}

/// Sets [`default_event_type`]; INVALIDARG for 0.
pub fn set_default_event_type(kind: u16) -> i32 {
    set_kind(&DEFAULT_EVENT_TYPE, kind)
}

/// The trace point type of scopes.
#[inline]
pub fn default_trace_type() -> u16 {
    DEFAULT_TRACE_TYPE.load(Ordering::Relaxed)
}

/// Sets [`default_trace_type`]; INVALIDARG for 0.
pub fn set_default_trace_type(kind: u16) -> i32 {
    set_kind(&DEFAULT_TRACE_TYPE, kind)
}

fn set_kind(word: &AtomicU16, kind: u16) -> i32 {
    if kind == 0 {
        return result::INVALIDARG;
    }
    word.store(kind, Ordering::Relaxed);
    result::SUCCESS
}

/// Whether scopes notify automatically.
#[inline]
pub fn scope_notification() -> bool {
    SCOPE_NOTIFICATION.load(Ordering::Relaxed)
}

/// Sets [`scope_notification`].
pub fn enable_scope_notification(on: bool) {
    SCOPE_NOTIFICATION.store(on, Ordering::Relaxed);
}
