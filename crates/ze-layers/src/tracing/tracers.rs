//! All tracers, and the snapshot of the enabled ones that calls hold.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use level_zero_sys::*;

use super::callback::{Callback, UserData};
use super::held::{Current, Held};
use crate::generated::CALLBACKS;

/// Before or after the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Prologue,
    Epilogue,
}

/// A tracer's callbacks, by number.
#[derive(Clone)]
pub(super) struct Callbacks {
    all: Box<[[Callback; 2]]>,
}

impl Callbacks {
    fn new() -> Self {
        Self {
            all: vec![[None, None]; CALLBACKS].into(),
        }
    }

    pub(super) fn set(&mut self, side: Side, number: usize, callback: Callback) {
        if let Some(pair) = self.all.get_mut(number) {
            pair[side as usize] = callback;
        }
    }

    pub(super) fn clear(&mut self) {
        self.all.fill([None, None]);
    }
}

struct Tracer {
    user_data: UserData,
    callbacks: Callbacks,
    enabled: bool,
}

/// One tracer's callbacks in a call.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) prologue: Callback,
    pub(super) epilogue: Callback,
    pub(super) user_data: UserData,
}

/// The callbacks to run for each function; never changed once calls can see it.
pub(super) struct Snapshot {
    /// The entries of each function: first, count.
    ranges: [(u32, u32); CALLBACKS],
    entries: Vec<Entry>,
    /// The tracers whose entries it has.
    tracers: Vec<usize>,
}

impl Snapshot {
    pub(super) fn entries(&self, number: usize) -> &[Entry] {
        let (first, count) = self.ranges[number];
        self.entries
            .get(first as usize..(first + count) as usize)
            .unwrap_or_default()
    }
}

/// A snapshot's address, kept until no call holds it.
struct Retired(*mut Snapshot);

// SAFETY: the address of a value that only its owner frees.
unsafe impl Send for Retired {}

struct Registry {
    tracers: BTreeMap<usize, Tracer>,
    /// Handles of the enabled tracers, in the order of enabling.
    enabled: Vec<usize>,
    retired: Vec<Retired>,
    /// Handles are numbers that look like addresses and are never reused.
    last: usize,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    tracers: BTreeMap::new(),
    enabled: Vec::new(),
    retired: Vec::new(),
    last: 0,
});

static CURRENT: Current<Snapshot> = Current::new();

/// The functions with an entry in the current snapshot: the first check of each call.
static WANTED: [AtomicBool; CALLBACKS] = [const { AtomicBool::new(false) }; CALLBACKS];

/// Thread numbers, so that threads use different slots.
static THREADS: AtomicUsize = AtomicUsize::new(1);

struct Thread {
    /// 0 before the first traced call.
    number: Cell<usize>,
    /// The snapshot that the current traced call uses.
    under_way: Cell<*mut Snapshot>,
}

thread_local! {
    // Without a destructor: a library with one could not be unloaded.
    static THREAD: Thread = const {
        Thread { number: Cell::new(0), under_way: Cell::new(std::ptr::null_mut()) }
    };
}

/// Whether a tracer has callbacks for this function.
#[inline(always)]
pub(super) fn is_wanted(number: usize) -> bool {
    WANTED[number].load(Ordering::Relaxed)
}

pub(super) fn is_idle() -> bool {
    registry().enabled.is_empty()
}

/// A traced call of this thread.
pub(super) struct Call {
    held: Held<'static, Snapshot>,
}

impl Call {
    /// `None` if the call is not to be traced: no tracer is enabled any more, or this thread is inside a traced call.
    pub(super) fn begin() -> Option<Self> {
        THREAD.with(|thread| {
            if !thread.under_way.get().is_null() {
                return None;
            }
            if thread.number.get() == 0 {
                thread.number.set(THREADS.fetch_add(1, Ordering::Relaxed));
            }
            let held = CURRENT.hold(thread.number.get())?;
            thread.under_way.set(held.pointer());
            Some(Self { held })
        })
    }

    pub(super) fn entries(&self, number: usize) -> &[Entry] {
        // SAFETY: a snapshot lives as long as it is held.
        unsafe { &*self.held.pointer() }.entries(number)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.under_way.set(std::ptr::null_mut()));
    }
}

fn registry() -> MutexGuard<'static, Registry> {
    // Code that holds the lock cannot panic, so a poisoned registry is consistent.
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn create(user_data: *mut std::ffi::c_void) -> zel_tracer_handle_t {
    let mut registry = registry();
    registry.last += 0x40;
    let handle = registry.last;
    registry.tracers.insert(
        handle,
        Tracer {
            user_data: UserData(user_data),
            callbacks: Callbacks::new(),
            enabled: false,
        },
    );
    std::ptr::without_provenance_mut(handle)
}

/// Changes the callbacks of a disabled tracer.
pub(super) fn change(tracer: zel_tracer_handle_t, how: impl FnOnce(&mut Callbacks)) -> ze_result_t {
    if tracer.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    match registry().tracers.get_mut(&tracer.addr()) {
        Some(tracer) if !tracer.enabled => {
            how(&mut tracer.callbacks);
            ZE_RESULT_SUCCESS
        }
        _ => ZE_RESULT_ERROR_INVALID_ARGUMENT,
    }
}

pub(super) fn set_enabled(tracer: zel_tracer_handle_t, enable: bool) -> ze_result_t {
    if tracer.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    let handle = tracer.addr();
    let mut registry = registry();
    let Some(enabled) = registry.tracers.get(&handle).map(|tracer| tracer.enabled) else {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    };
    if !enabled && registry.is_needed(handle) {
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    if enabled != enable {
        if let Some(tracer) = registry.tracers.get_mut(&handle) {
            tracer.enabled = enable;
        }
        registry.enabled.retain(|other| *other != handle);
        if enable {
            registry.enabled.push(handle);
        }
        registry.publish();
    }
    ZE_RESULT_SUCCESS
}

pub(super) fn destroy(tracer: zel_tracer_handle_t) -> ze_result_t {
    if tracer.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    let handle = tracer.addr();
    let mut pause = Duration::from_micros(1);
    loop {
        let mut registry = registry();
        match registry.tracers.get(&handle) {
            None => return ZE_RESULT_ERROR_INVALID_ARGUMENT,
            Some(tracer) if tracer.enabled => return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
            Some(_) => {}
        }
        if !registry.is_needed(handle) {
            registry.tracers.remove(&handle);
            return ZE_RESULT_SUCCESS;
        }
        let own = THREAD.with(|thread| thread.under_way.get());
        // SAFETY: this thread's own call holds it.
        if unsafe { own.as_ref() }.is_some_and(|own| own.tracers.contains(&handle)) {
            return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
        }
        drop(registry);
        // A call may last as long as a kernel, so the wait backs off; calls do not wake waiters.
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

impl Registry {
    /// Whether a call may still run callbacks of a tracer that was disabled.
    fn is_needed(&mut self, tracer: usize) -> bool {
        self.collect();
        self.retired.iter().any(|retired| {
            // SAFETY: freed only by `collect`, which takes it out of the list.
            unsafe { &*retired.0 }.tracers.contains(&tracer)
        })
    }

    /// Frees the snapshots that no call holds.
    fn collect(&mut self) {
        self.retired.retain(|retired| {
            let held = CURRENT.is_held(retired.0);
            if !held {
                // SAFETY: made by `publish`, not the current one, not held, and taken out of the list here.
                drop(unsafe { Box::from_raw(retired.0) });
            }
            held
        });
    }

    /// Publishes the enabled tracers to new calls.
    fn publish(&mut self) {
        let enabled: Vec<(usize, &Tracer)> = self
            .enabled
            .iter()
            .filter_map(|handle| Some((*handle, self.tracers.get(handle)?)))
            .collect();
        let mut snapshot = Box::new(Snapshot {
            ranges: [(0, 0); CALLBACKS],
            entries: Vec::new(),
            tracers: enabled.iter().map(|(handle, _)| *handle).collect(),
        });
        for number in 0..CALLBACKS {
            let first = snapshot.entries.len();
            let entries = enabled.iter().filter_map(|(_, tracer)| {
                let [prologue, epilogue] = tracer.callbacks.all[number];
                (prologue.is_some() || epilogue.is_some()).then_some(Entry {
                    prologue,
                    epilogue,
                    user_data: tracer.user_data,
                })
            });
            snapshot.entries.extend(entries);
            let count = snapshot.entries.len() - first;
            snapshot.ranges[number] = (
                u32::try_from(first).unwrap_or_default(),
                u32::try_from(count).unwrap_or_default(),
            );
        }
        let wanted: Vec<bool> = snapshot
            .ranges
            .iter()
            .map(|(_, count)| *count > 0)
            .collect();
        let new = if snapshot.entries.is_empty() {
            std::ptr::null_mut()
        } else {
            Box::into_raw(snapshot)
        };
        let old = CURRENT.replace(new);
        for (flag, wanted) in WANTED.iter().zip(wanted) {
            flag.store(wanted, Ordering::Relaxed);
        }
        if !old.is_null() {
            self.retired.push(Retired(old));
        }
        self.collect();
    }
}
