//! Streams of an emitter: announcing them, checking for listeners, sending.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use xpti_sys::INVALID_STREAM;

use crate::{DetailLevel, Framework, Location, Visit};

/// An emitter's own stream, in a static.
///
/// It is announced by the first check for listeners. Without a framework every check is one relaxed load and a branch.
#[derive(Debug)]
pub struct Stream {
    name: &'static CStr,
    version: &'static CStr,
    major: u32,
    minor: u32,
    state: AtomicU16,
    announced: Recent,
}

/// Locations whose node was announced on a stream: the last one of each slot. A location that is found needs no lock.
#[derive(Debug)]
pub(crate) struct Recent([AtomicU64; Recent::SLOTS]);

impl Recent {
    const SLOTS: usize = 64;

    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; Self::SLOTS])
    }

    /// The slot of a location's id, which is a hash.
    fn slot(&self, uid: u64) -> &AtomicU64 {
        &self.0[uid as usize % Self::SLOTS]
    }

    pub(crate) fn contains(&self, uid: u64) -> bool {
        self.slot(uid).load(Ordering::Relaxed) == uid
    }

    pub(crate) fn insert(&self, uid: u64) {
        self.slot(uid).store(uid, Ordering::Relaxed);
    }
}

const UNKNOWN: u16 = 0;
const SILENT: u16 = 1;
/// The stream is being announced to subscribers; meanwhile other threads send nothing.
const ANNOUNCING: u16 = 2;
/// With the stream's number in the low byte.
const KNOWN: u16 = 0x100;

/// The announced streams, in that order.
static ANNOUNCED: Mutex<Vec<&'static Stream>> = Mutex::new(Vec::new());

impl Stream {
    /// Creates a stream with this name and version; nothing is announced yet.
    #[must_use]
    pub const fn new(name: &'static CStr, major: u32, minor: u32, version: &'static CStr) -> Self {
        Self {
            name,
            version,
            major,
            minor,
            state: AtomicU16::new(UNKNOWN),
            announced: Recent::new(),
        }
    }

    pub(crate) fn announced(&self) -> &Recent {
        &self.announced
    }

    /// Its name.
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// The listeners of this type; `None` without any, and then there is nothing to prepare.
    #[inline]
    pub fn listeners(&'static self, kind: u16) -> Option<Listeners> {
        match self.state.load(Ordering::Relaxed) {
            SILENT => None,
            state => self.ask(state, kind),
        }
    }

    fn ask(&'static self, state: u16, kind: u16) -> Option<Listeners> {
        let state = if state == UNKNOWN {
            self.announce()
        } else {
            state
        };
        if state < KNOWN {
            return None;
        }
        let framework = Framework::get()?;
        let stream = state as u8;
        // SAFETY: any numbers.
        unsafe { (framework.functions().xptiCheckTraceEnabled)(stream, kind) }.then_some(
            Listeners {
                framework,
                stream,
                kind,
            },
        )
    }

    #[cold]
    fn announce(&'static self) -> u16 {
        let claim =
            self.state
                .compare_exchange(UNKNOWN, ANNOUNCING, Ordering::Relaxed, Ordering::Relaxed);
        if let Err(state) = claim {
            return state;
        }
        let state = Framework::get().map_or(SILENT, |framework| {
            let functions = framework.functions();
            // SAFETY: C strings. Registered before it is announced, as DPC++ does: subscribers ask for the number.
            unsafe {
                (functions.xptiFrameworkInitialize)();
                let stream = (functions.xptiRegisterStream)(self.name.as_ptr());
                if stream == INVALID_STREAM {
                    return SILENT;
                }
                (functions.xptiInitialize)(
                    self.name.as_ptr(),
                    self.major,
                    self.minor,
                    self.version.as_ptr(),
                );
                KNOWN | u16::from(stream)
            }
        });
        self.state.store(state, Ordering::Relaxed);
        if state != SILENT {
            ANNOUNCED
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(self);
        }
        state
    }

    /// The detail that subscribers want; [`DetailLevel::None`] without any.
    pub fn detail(&'static self) -> DetailLevel {
        let state = match self.state.load(Ordering::Relaxed) {
            UNKNOWN => self.announce(),
            state => state,
        };
        let (true, Some(framework)) = (state >= KNOWN, Framework::get()) else {
            return DetailLevel::None;
        };
        // SAFETY: any number.
        match unsafe { (framework.functions().xptiGetEffectiveStreamDetailLevel)(state as u8) } {
            0 => DetailLevel::None,
            1 => DetailLevel::Basic,
            2 => DetailLevel::Normal,
            _ => DetailLevel::Verbose,
        }
    }
}

/// Announces the end of all streams, the last one first. A runtime calls it at its end; it is never called
/// automatically.
pub fn finish_all() {
    let announced = core::mem::take(&mut *ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner));
    let Some(framework) = Framework::get() else {
        return;
    };
    for stream in announced.into_iter().rev() {
        stream.state.store(SILENT, Ordering::Relaxed);
        // SAFETY: a C string.
        unsafe {
            (framework.functions().xptiFinalize)(stream.name.as_ptr());
            (framework.functions().xptiFrameworkFinalize)();
        }
    }
}

/// The listeners of one type of one stream.
#[derive(Clone, Copy, Debug)]
pub struct Listeners {
    framework: &'static Framework,
    stream: u8,
    kind: u16,
}

impl Listeners {
    /// The framework, for ids.
    pub fn framework(&self) -> &'static Framework {
        self.framework
    }

    /// Visits a location.
    pub fn visit(&self, location: &Location<'_>) -> Option<Visit> {
        Visit::new(self.framework, location)
    }

    /// Sends one notification to all of them, on this thread. User data that outlives the call may be of any type.
    ///
    /// # Safety
    /// `user_data` is null or points to the data that subscribers expect for this type on this stream.
    pub unsafe fn send(
        &self,
        parent: Option<&Visit>,
        event: Option<&Visit>,
        instance: u64,
        user_data: *const c_void,
    ) {
        // SAFETY: the kind is this listener's; the rest is the caller's.
        unsafe { self.send_as(self.kind, parent, event, instance, user_data) }
    }

    /// As [`Self::send`], with another type: the end of a pair.
    ///
    /// # Safety
    /// As [`Self::send`].
    pub(crate) unsafe fn send_as(
        &self,
        kind: u16,
        parent: Option<&Visit>,
        event: Option<&Visit>,
        instance: u64,
        user_data: *const c_void,
    ) {
        let pointer = |visit: Option<&Visit>| visit.map_or(core::ptr::null_mut(), Visit::event);
        // SAFETY: living events; user data is the caller's. What the framework answers changes nothing here.
        unsafe {
            (self.framework.functions().xptiNotifySubscribers)(
                self.stream,
                kind,
                pointer(parent),
                pointer(event),
                instance,
                user_data,
            )
        };
    }
}
