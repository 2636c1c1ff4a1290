//! The table of each stream's callbacks and the process's switch; registrations change it under one lock.
//!
//! Each stream has one cache line. It has the results of the check for standard types as bits, already combined with
//! the process's switch, and pointers to the lists.

use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

use xpti_sys::stream_id_t;

use crate::callback_list::CallbackList;
use crate::sync::Lock;

pub(crate) static LOCK: Lock = Lock::new();

pub(crate) const PAGE: usize = 128;

/// Lists of 128 consecutive types.
struct Page([AtomicPtr<CallbackList>; PAGE]);

/// All pages of a stream that a tool's own types need.
struct Pages([AtomicPtr<Page>; 512]);

#[repr(align(64))]
pub(crate) struct Stream {
    /// The results of the check for types 0 to 127; type 0 means any.
    pub(crate) answers: [AtomicU64; 2],
    /// Lists of types 0 to 127.
    standard: AtomicPtr<Page>,
    /// Lists of all others.
    others: AtomicPtr<Pages>,
    /// Types 0 to 127 with an active callback.
    active: [AtomicU64; 2],
    /// Types from 128 on with an active callback.
    active_others: AtomicU32,
    /// Whether a callback was ever registered.
    pub(crate) known: AtomicU8,
}

pub(crate) static STREAMS: [Stream; 256] = [const {
    Stream {
        answers: [const { AtomicU64::new(0) }; 2],
        standard: AtomicPtr::new(core::ptr::null_mut()),
        others: AtomicPtr::new(core::ptr::null_mut()),
        active: [const { AtomicU64::new(0) }; 2],
        active_others: AtomicU32::new(0),
        known: AtomicU8::new(0),
    }
}; 256];

pub(crate) const OFF: u8 = 0;
pub(crate) const ON: u8 = 1;
pub(crate) const UNDECIDED: u8 = 2;

/// The process's switch; undecided until the framework has read the environment.
#[repr(align(64))]
pub(crate) struct Switch(pub(crate) AtomicU8);

pub(crate) static SWITCH: Switch = Switch(AtomicU8::new(UNDECIDED));

/// The environment's value, unless it was set meanwhile.
pub(crate) fn switch_initially(on: bool) {
    switch(|state| if state == UNDECIDED { on } else { state == ON });
}

pub(crate) fn switch(decide: impl FnOnce(u8) -> bool) {
    let _held = LOCK.hold();
    let on = decide(SWITCH.0.load(Ordering::Relaxed));
    SWITCH.0.store(if on { ON } else { OFF }, Ordering::Relaxed);
    for (number, stream) in STREAMS.iter().enumerate() {
        stream.answer(number, on);
    }
}

impl Stream {
    /// Recomputes the results of the check; under the lock.
    pub(crate) fn answer(&self, number: usize, on: bool) {
        // Stream 0 has notifications, but never passes the check.
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
    pub(crate) fn list(&self, kind: u16) -> Option<&'static CallbackList> {
        let page = self.page(kind)?;
        // SAFETY: null, or leaked when it was published.
        unsafe {
            page.0[usize::from(kind) % PAGE]
                .load(Ordering::Acquire)
                .as_ref()
        }
    }

    /// The list, created if there is none; under the lock.
    pub(crate) fn list_to_change(&self, kind: u16) -> &'static CallbackList {
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

    /// Applies a change in the list of `kind`; under the lock.
    pub(crate) fn changed(&self, kind: u16, was: bool, is: bool) {
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

/// Unregisters all callbacks of the stream. Returns whether there ever was one.
pub(crate) fn unregister_stream(stream: stream_id_t) -> bool {
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

/// Removes all callbacks; running ones continue.
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
