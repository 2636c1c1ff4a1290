//! Subscribing: a library that the framework loads because it is in `XPTI_SUBSCRIBERS`.

use core::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use xpti_sys::{INVALID_STREAM, trace_event_data_t, tracepoint_callback_api_t};

use crate::framework::Framework;
use crate::notification::Notification;
use crate::stream_info::StreamInfo;

/// The detail of a stream that a subscriber wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DetailLevel {
    /// Nothing beyond names.
    None = xpti_sys::detail_level::NONE,
    /// Names and sizes.
    Basic = xpti_sys::detail_level::BASIC,
    /// Devices, queues, pointers too.
    Normal = xpti_sys::detail_level::NORMAL,
    /// Everything, arguments of kernels too.
    Verbose = xpti_sys::detail_level::VERBOSE,
}

/// The types of notifications that a subscriber wants of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Types {
    /// No callback is registered.
    None,
    /// All standard types.
    All,
    /// These ([`crate::trace_point_type`], or a tool's own).
    Some(Vec<u16>),
}

/// A tool that listens. All functions may be called from any thread at any time, several at once, also during exit. A
/// panic is caught and ends only that call.
pub trait Subscriber: Sync {
    /// A stream was announced; returns the wanted types. An emitter may announce a stream again: this is then called
    /// again, and its result is added.
    fn stream_initialized(&self, stream: &StreamInfo) -> Types;

    /// A notification, on the thread that sends it.
    fn notify(&self, notification: &Notification<'_>);

    /// The emitter has finished the stream. May be called more than once, and during the dynamic linker's exit.
    fn stream_finished(&self, stream: &CStr);

    /// The detail to send on the stream; `None` leaves it to other subscribers, with the default
    /// [`DetailLevel::Normal`].
    fn detail_level(&self, stream: &CStr) -> Option<DetailLevel> {
        let _ = stream;
        None
    }
}

/// The one subscriber of a library, created by [`export_subscriber!`]. Not for direct use.
#[doc(hidden)]
pub trait Exported: 'static {
    /// The subscriber.
    fn subscriber() -> &'static dyn Subscriber;
    /// Its streams by number.
    fn streams() -> &'static Streams;
}

/// The streams that a subscriber knows, by number.
#[doc(hidden)]
#[derive(Debug)]
pub struct Streams([OnceLock<StreamInfo>; 256]);

impl Streams {
    /// Empty.
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; 256])
    }
}

impl Default for Streams {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes the library a subscriber: exports its C functions around a static of a type that is [`Subscriber`].
///
/// ```
/// struct Quiet;
/// impl xpti::Subscriber for Quiet {
///     fn stream_initialized(&self, _: &xpti::StreamInfo) -> xpti::Types { xpti::Types::All }
///     fn notify(&self, _: &xpti::Notification<'_>) {}
///     fn stream_finished(&self, _: &std::ffi::CStr) {}
/// }
/// static QUIET: Quiet = Quiet;
/// xpti::export_subscriber!(QUIET);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export_subscriber {
    ($subscriber:path) => {
        #[doc(hidden)]
        const _: () = {
            struct Export;
            impl $crate::subscriber::Exported for Export {
                fn subscriber() -> &'static dyn $crate::Subscriber {
                    &$subscriber
                }
                fn streams() -> &'static $crate::subscriber::Streams {
                    static STREAMS: $crate::subscriber::Streams =
                        $crate::subscriber::Streams::new();
                    &STREAMS
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn xptiTraceInit(
                major: u32,
                minor: u32,
                version: *const ::core::ffi::c_char,
                stream: *const ::core::ffi::c_char,
            ) {
                // SAFETY: the framework passes C strings.
                unsafe { $crate::subscriber::init::<Export>(major, minor, version, stream) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn xptiTraceFinish(stream: *const ::core::ffi::c_char) {
                // SAFETY: the framework passes a C string.
                unsafe { $crate::subscriber::finish::<Export>(stream) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn xptiQuerySubscriberStreamDetailLevel(
                stream: *const ::core::ffi::c_char,
                level: *mut u8,
            ) -> bool {
                // SAFETY: the framework passes a C string and a place to write to.
                unsafe { $crate::subscriber::detail_level::<Export>(stream, level) }
            }
        };
    };
}

/// # Safety
/// Two C strings.
#[doc(hidden)]
pub unsafe fn init<E: Exported>(
    major: u32,
    minor: u32,
    version: *const c_char,
    stream: *const c_char,
) {
    let (Some(framework), false) = (Framework::get(), stream.is_null()) else {
        return;
    };
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(stream) };
    let version = if version.is_null() {
        c""
    } else {
        // SAFETY: the caller's.
        unsafe { CStr::from_ptr(version) }
    };
    let functions = framework.functions();
    // SAFETY: a C string.
    let id = unsafe { (functions.xptiRegisterStream)(stream) };
    if id == INVALID_STREAM {
        return;
    }
    let info = E::streams().0[usize::from(id)].get_or_init(|| StreamInfo {
        name: name.to_owned(),
        version: version.to_owned(),
        major,
        minor,
        id,
    });
    let Ok(types) = catch_unwind(AssertUnwindSafe(|| {
        E::subscriber().stream_initialized(info)
    })) else {
        return;
    };
    let callback = callbacks::<E>()[usize::from(id)];
    let register = |kind: u16| {
        // SAFETY: a function of this library, which the framework never closes.
        unsafe { (functions.xptiRegisterCallback)(id, kind, Some(callback)) };
    };
    match types {
        Types::None => {}
        Types::All => (1..128).for_each(register),
        Types::Some(kinds) => kinds.into_iter().for_each(register),
    }
}

/// # Safety
/// A C string.
#[doc(hidden)]
pub unsafe fn finish<E: Exported>(stream: *const c_char) {
    if stream.is_null() {
        return;
    }
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(stream) };
    // A panic ends only this call; the panic hook has reported it.
    let _ = catch_unwind(AssertUnwindSafe(|| E::subscriber().stream_finished(name)));
}

/// # Safety
/// A C string and a writable output.
#[doc(hidden)]
pub unsafe fn detail_level<E: Exported>(stream: *const c_char, level: *mut u8) -> bool {
    if stream.is_null() || level.is_null() {
        return false;
    }
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(stream) };
    let Ok(Some(wanted)) = catch_unwind(AssertUnwindSafe(|| E::subscriber().detail_level(name)))
    else {
        return false;
    };
    // SAFETY: the caller's.
    unsafe { *level = wanted as u8 };
    true
}

/// Callbacks do not get their stream, so there is one function for each.
unsafe extern "C-unwind" fn callback<E: Exported, const STREAM: usize>(
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) {
    let (Some(framework), Some(stream)) = (Framework::get(), E::streams().0[STREAM].get()) else {
        return;
    };
    let notification = Notification {
        framework,
        stream,
        kind,
        parent,
        event,
        instance,
        user_data,
    };
    let _ = catch_unwind(AssertUnwindSafe(|| E::subscriber().notify(&notification)));
}

/// [`callback`] for every stream.
fn callbacks<E: Exported>() -> [tracepoint_callback_api_t; 256] {
    macro_rules! row {
        ($high:literal) => {
            [
                callback::<E, { $high * 16 }>,
                callback::<E, { $high * 16 + 1 }>,
                callback::<E, { $high * 16 + 2 }>,
                callback::<E, { $high * 16 + 3 }>,
                callback::<E, { $high * 16 + 4 }>,
                callback::<E, { $high * 16 + 5 }>,
                callback::<E, { $high * 16 + 6 }>,
                callback::<E, { $high * 16 + 7 }>,
                callback::<E, { $high * 16 + 8 }>,
                callback::<E, { $high * 16 + 9 }>,
                callback::<E, { $high * 16 + 10 }>,
                callback::<E, { $high * 16 + 11 }>,
                callback::<E, { $high * 16 + 12 }>,
                callback::<E, { $high * 16 + 13 }>,
                callback::<E, { $high * 16 + 14 }>,
                callback::<E, { $high * 16 + 15 }>,
            ]
        };
    }
    let rows: [[tracepoint_callback_api_t; 16]; 16] = [
        row!(0),
        row!(1),
        row!(2),
        row!(3),
        row!(4),
        row!(5),
        row!(6),
        row!(7),
        row!(8),
        row!(9),
        row!(10),
        row!(11),
        row!(12),
        row!(13),
        row!(14),
        row!(15),
    ];
    std::array::from_fn(|stream| rows[stream / 16][stream % 16])
}
