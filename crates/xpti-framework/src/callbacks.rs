//! Who listens to what: registering, checking, notifying.
//!
//! Each stream has one line of memory. It holds the answers of the check for standard types as bits, already joined with
//! the process's switch, and the way to the lists. Checking and notifying only read; changes are made under one lock.

use core::ffi::c_void;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

use xpti_sys::trace_point_type::needs_no_event;
use xpti_sys::{result, stream_id_t, trace_event_data_t, tracepoint_callback_api_t};

use crate::callback_list::{Before, Callback, CallbackList, Only};
use crate::subscribers;
use crate::sync::Lock;

pub(crate) static LOCK: Lock = Lock::new();

const PAGE: usize = 128;

/// Lists of 128 types in a row.
struct Page([AtomicPtr<CallbackList>; PAGE]);

/// All pages of a stream that a tool's own types need.
struct Pages([AtomicPtr<Page>; 512]);

#[repr(align(64))]
struct Stream {
    /// What the check answers for types 0 to 127; type 0 asks for any.
    answers: [AtomicU64; 2],
    /// Lists of types 0 to 127.
    standard: AtomicPtr<Page>,
    /// Lists of all others.
    others: AtomicPtr<Pages>,
    /// Types 0 to 127 with an active callback.
    active: [AtomicU64; 2],
    /// Types from 128 on with an active callback.
    active_others: AtomicU32,
    /// Whether a callback was ever registered.
    known: AtomicU8,
}

static STREAMS: [Stream; 256] = [const {
    Stream {
        answers: [const { AtomicU64::new(0) }; 2],
        standard: AtomicPtr::new(core::ptr::null_mut()),
        others: AtomicPtr::new(core::ptr::null_mut()),
        active: [const { AtomicU64::new(0) }; 2],
        active_others: AtomicU32::new(0),
        known: AtomicU8::new(0),
    }
}; 256];

const OFF: u8 = 0;
const ON: u8 = 1;
const UNDECIDED: u8 = 2;

/// The process's switch; undecided until the framework has read the environment.
#[repr(align(64))]
struct Switch(AtomicU8);

static SWITCH: Switch = Switch(AtomicU8::new(UNDECIDED));

/// Whether tracing is on.
#[inline]
pub fn enabled() -> bool {
    match SWITCH.0.load(Ordering::Relaxed) {
        UNDECIDED => decide(),
        state => state == ON,
    }
}

#[cold]
fn decide() -> bool {
    subscribers::start();
    SWITCH.0.load(Ordering::Relaxed) == ON
}

/// Turns tracing on or off for the process.
pub fn force(on: bool) {
    subscribers::start();
    switch(|_| on);
}

/// What the environment says, unless somebody has decided meanwhile.
pub(crate) fn settle(on: bool) {
    switch(|state| if state == UNDECIDED { on } else { state == ON });
}

fn switch(decide: impl FnOnce(u8) -> bool) {
    let _held = LOCK.hold();
    let on = decide(SWITCH.0.load(Ordering::Relaxed));
    SWITCH.0.store(if on { ON } else { OFF }, Ordering::Relaxed);
    for (number, stream) in STREAMS.iter().enumerate() {
        stream.answer(number, on);
    }
}

impl Stream {
    /// Recomputes what the check answers; under the lock.
    fn answer(&self, number: usize, on: bool) {
        // Stream 0 carries notifications, but never passes the check.
        let on = on && number != 0;
        let [low, high] = self
            .active
            .each_ref()
            .map(|word| word.load(Ordering::Relaxed));
        let any = low != 0 || high != 0 || self.active_others.load(Ordering::Relaxed) != 0;
        self.answers[0].store(
            if on { low & !1 | u64::from(any) } else { 0 },
            Ordering::Relaxed,
        );
        self.answers[1].store(if on { high } else { 0 }, Ordering::Relaxed);
    }

    #[inline]
    fn page(&self, kind: u16) -> Option<&'static Page> {
        if usize::from(kind) < PAGE {
            // SAFETY: null, or leaked when it was published.
            return unsafe { self.standard.load(Ordering::Acquire).as_ref() };
        }
        // SAFETY: null, or leaked when they were published.
        unsafe {
            let pages = self.others.load(Ordering::Acquire).as_ref()?;
            pages.0[usize::from(kind) / PAGE]
                .load(Ordering::Acquire)
                .as_ref()
        }
    }

    #[inline]
    fn list(&self, kind: u16) -> Option<&'static CallbackList> {
        let page = self.page(kind)?;
        // SAFETY: null, or leaked when it was published.
        unsafe {
            page.0[usize::from(kind) % PAGE]
                .load(Ordering::Acquire)
                .as_ref()
        }
    }

    /// The list, made when there is none; under the lock.
    fn list_to_change(&self, kind: u16) -> &'static CallbackList {
        let at = usize::from(kind);
        let page = if at < PAGE {
            published(&self.standard, Page::new)
        } else {
            let pages = published(&self.others, || {
                Pages([const { AtomicPtr::new(core::ptr::null_mut()) }; 512])
            });
            published(&pages.0[at / PAGE], Page::new)
        };
        let slot = &page.0[at % PAGE];
        // SAFETY: null, or leaked when it was published.
        if let Some(list) = unsafe { slot.load(Ordering::Relaxed).as_ref() } {
            return list;
        }
        let list = CallbackList::leaked();
        slot.store(core::ptr::from_ref(list).cast_mut(), Ordering::Release);
        list
    }

    /// Takes over what a change left in the list of `kind`; under the lock.
    fn changed(&self, kind: u16, was: bool, is: bool) {
        let at = usize::from(kind);
        if at < PAGE {
            let (word, bit) = (&self.active[at / 64], 1 << (at % 64));
            if is {
                word.fetch_or(bit, Ordering::Relaxed);
            } else {
                word.fetch_and(!bit, Ordering::Relaxed);
            }
        } else if is && !was {
            self.active_others.fetch_add(1, Ordering::Relaxed);
        } else if was && !is {
            self.active_others.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Page {
    fn new() -> Self {
        Self([const { AtomicPtr::new(core::ptr::null_mut()) }; PAGE])
    }
}

fn published<T>(slot: &AtomicPtr<T>, make: impl FnOnce() -> T) -> &'static T {
    // SAFETY: null, or leaked when it was published.
    if let Some(known) = unsafe { slot.load(Ordering::Relaxed).as_ref() } {
        return known;
    }
    let new: &'static T = Box::leak(Box::new(make()));
    slot.store(core::ptr::from_ref(new).cast_mut(), Ordering::Release);
    new
}

/// Whether a notification of this type would reach anybody; type 0 asks for the stream as a whole.
#[inline]
pub fn check(stream: stream_id_t, kind: u16) -> bool {
    if usize::from(kind) >= PAGE {
        return check_others(stream, kind);
    }
    let word = &STREAMS[usize::from(stream)].answers[usize::from(kind / 64)];
    if word.load(Ordering::Relaxed) >> (kind % 64) & 1 == 1 {
        return true;
    }
    SWITCH.0.load(Ordering::Relaxed) == UNDECIDED && check_first(stream, kind)
}

/// The first check of a process loads the subscribers.
#[cold]
#[inline(never)]
fn check_first(stream: stream_id_t, kind: u16) -> bool {
    decide() && check(stream, kind)
}

/// Types of tools.
#[inline(never)]
fn check_others(stream: stream_id_t, kind: u16) -> bool {
    stream != 0
        && enabled()
        && STREAMS[usize::from(stream)]
            .list(kind)
            .is_some_and(CallbackList::any)
}

/// Calls everybody who listens, in the order in which they registered, on this thread; FALSE while tracing is off.
/// INVALIDARG without an event, unless the type needs none and there is user data.
///
/// A callback that throws ends the round: the exception goes on to the caller.
///
/// # Safety
/// Events are null or events; user data is what the type's subscribers expect.
#[inline]
pub unsafe fn notify(
    stream: stream_id_t,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) -> i32 {
    // Everything that is rare lies elsewhere, so that the usual way saves no registers.
    if SWITCH.0.load(Ordering::Relaxed) != ON || event.is_null() {
        // SAFETY: the caller's.
        return unsafe { notify_with_care(stream, kind, parent, event, instance, user_data) };
    }
    // SAFETY: the caller's.
    unsafe { dispatch(stream, kind, parent, event, instance, user_data) }
}

/// # Safety
/// As [`notify`].
#[inline]
unsafe fn dispatch(
    stream: stream_id_t,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) -> i32 {
    let Some(list) = STREAMS[usize::from(stream)].list(kind) else {
        return result::SUCCESS;
    };
    match list.only() {
        Only::Nobody => {}
        // SAFETY: only callbacks are registered; the rest is the caller's.
        Only::One(callback) => unsafe { call(callback, kind, parent, event, instance, user_data) },
        // SAFETY: the caller's.
        Only::More => unsafe { notify_all(list, kind, parent, event, instance, user_data) },
    }
    result::SUCCESS
}

/// # Safety
/// As [`notify`]; `callback` is a registered one.
#[inline]
unsafe fn call(
    callback: Callback,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) {
    // SAFETY: the caller's.
    let callback: tracepoint_callback_api_t = unsafe { core::mem::transmute(callback) };
    // SAFETY: the caller's.
    unsafe { callback(kind, parent, event, instance, user_data) };
}

/// # Safety
/// As [`notify`].
#[inline(never)]
unsafe fn notify_all(
    list: &CallbackList,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) {
    if let Some([one, other]) = list.pair() {
        // SAFETY: only callbacks are registered; the rest is the caller's.
        unsafe {
            call(one, kind, parent, event, instance, user_data);
            call(other, kind, parent, event, instance, user_data);
        }
        return;
    }
    // SAFETY: only callbacks are registered; the rest is the caller's.
    list.for_each_active(|callback| unsafe {
        call(callback, kind, parent, event, instance, user_data)
    });
}

/// # Safety
/// As [`notify`].
#[inline(never)]
unsafe fn notify_with_care(
    stream: stream_id_t,
    kind: u16,
    parent: *mut trace_event_data_t,
    event: *mut trace_event_data_t,
    instance: u64,
    user_data: *const c_void,
) -> i32 {
    let state = SWITCH.0.load(Ordering::Relaxed);
    if state == OFF || state == UNDECIDED && !decide() {
        return result::FALSE;
    }
    if event.is_null() && (user_data.is_null() || !needs_no_event(kind)) {
        return result::INVALIDARG;
    }
    // SAFETY: the caller's.
    unsafe { dispatch(stream, kind, parent, event, instance, user_data) }
}

fn address(callback: tracepoint_callback_api_t) -> Callback {
    callback as *mut ()
}

/// Adds a callback. DUPLICATE when it is there already; UNDELETE when it had been taken back, and gets its old place.
pub fn register(stream: stream_id_t, kind: u16, callback: tracepoint_callback_api_t) -> i32 {
    subscribers::start();
    let _held = LOCK.hold();
    let line = &STREAMS[usize::from(stream)];
    let list = line.list_to_change(kind);
    let was = list.any();
    let before = list.register(address(callback));
    line.known.store(1, Ordering::Relaxed);
    line.changed(kind, was, true);
    line.answer(usize::from(stream), SWITCH.0.load(Ordering::Relaxed) == ON);
    match before {
        Before::Unknown => result::SUCCESS,
        Before::Inactive => result::UNDELETE,
        Before::Active => result::DUPLICATE,
    }
}

/// Takes a callback back. DUPLICATE when it had been taken back, NOTFOUND when it was never there. It may still be called
/// by notifications that run.
pub fn unregister(stream: stream_id_t, kind: u16, callback: tracepoint_callback_api_t) -> i32 {
    let _held = LOCK.hold();
    let line = &STREAMS[usize::from(stream)];
    let Some(list) = line.list(kind) else {
        return result::NOTFOUND;
    };
    let was = list.any();
    let before = list.unregister(address(callback));
    line.changed(kind, was, list.any());
    line.answer(usize::from(stream), SWITCH.0.load(Ordering::Relaxed) == ON);
    match before {
        Before::Unknown => result::NOTFOUND,
        Before::Inactive => result::DUPLICATE,
        Before::Active => result::SUCCESS,
    }
}

/// Takes all callbacks of the stream back; whether there ever was one.
pub fn unregister_stream(stream: stream_id_t) -> bool {
    let _held = LOCK.hold();
    let line = &STREAMS[usize::from(stream)];
    // SAFETY: null, or leaked when they were published.
    let (standard, others) = unsafe {
        (
            line.standard.load(Ordering::Relaxed).as_ref(),
            line.others.load(Ordering::Relaxed).as_ref(),
        )
    };
    let others = others
        .into_iter()
        .flat_map(|pages| &pages.0)
        .filter_map(|page| {
            // SAFETY: as above.
            unsafe { page.load(Ordering::Relaxed).as_ref() }
        });
    for slot in standard.into_iter().chain(others).flat_map(|page| &page.0) {
        // SAFETY: as above.
        if let Some(list) = unsafe { slot.load(Ordering::Relaxed).as_ref() } {
            list.unregister_all();
        }
    }
    line.forget_active(usize::from(stream));
    line.known.load(Ordering::Relaxed) != 0
}

impl Stream {
    fn forget_active(&self, number: usize) {
        for word in &self.active {
            word.store(0, Ordering::Relaxed);
        }
        self.active_others.store(0, Ordering::Relaxed);
        self.answer(number, false);
    }
}

/// Forgets all callbacks; those who run go on.
pub(crate) fn reset() {
    let _held = LOCK.hold();
    for (number, line) in STREAMS.iter().enumerate() {
        line.standard
            .store(core::ptr::null_mut(), Ordering::Release);
        line.others.store(core::ptr::null_mut(), Ordering::Release);
        line.known.store(0, Ordering::Relaxed);
        line.forget_active(number);
    }
}
