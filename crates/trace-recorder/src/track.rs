//! Lanes: where one thread at a time appends. A thread that ends hands its lane, half-filled chunk and all, to the next.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use timeline::file::RECORDS;
use timeline::record::{self, Attribute, Event, MAX_WORDS};

use crate::sink::{self, CHUNK_WORDS, Chunk, Sink};

/// A lane and its open chunk.
pub(crate) struct Lane {
    number: u32,
    /// Chunks taken so far.
    taken: u64,
    chunk: Option<Chunk>,
    /// Words used of the chunk.
    at: usize,
    /// Time of the last record: readers rely on the order.
    last: u64,
}

// SAFETY: a lane has one owner at a time, a thread or the pool; its mapping is no thread's own.
unsafe impl Send for Lane {}

/// Lanes whose threads have ended.
pub(crate) struct Idle(Mutex<Vec<Parked>>);

/// A lane that waits for a thread; it stays where it is, since threads hold its address.
struct Parked(Box<Lane>);

impl Idle {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

thread_local! {
    /// This thread's lane; null before its first record and after its end. No destructor of Rust's: a C one gives the
    /// lane back, and records that come even later take another.
    static LANE: Cell<*mut Lane> = const { Cell::new(ptr::null_mut()) };
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// The key whose destructor gives lanes back, plus one; 0 before it is made.
static KEY: AtomicU32 = AtomicU32::new(0);

/// The system's number of this thread.
pub(crate) fn thread() -> u32 {
    let known = THREAD.get();
    if known != 0 {
        return known;
    }
    // SAFETY: no arguments, cannot fail.
    let number = unsafe { libc::gettid() } as u32;
    THREAD.set(number);
    number
}

unsafe extern "C" fn give_back(lane: *mut c_void) {
    LANE.set(ptr::null_mut());
    let Some(sink) = sink::sink() else {
        return;
    };
    // SAFETY: the value is what `take` stored: a box that only this thread used.
    let lane = unsafe { Box::from_raw(lane.cast::<Lane>()) };
    let mut idle = sink.idle.0.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(Parked(lane));
}

fn key() -> Option<libc::pthread_key_t> {
    match KEY.load(Ordering::Acquire) {
        0 => {
            let mut fresh = 0;
            // SAFETY: `fresh` may be written; the destructor has the right type.
            if unsafe { libc::pthread_key_create(&raw mut fresh, Some(give_back)) } != 0 {
                return None;
            }
            // Of two threads one wins; the other's key stays unused.
            let stored = KEY.compare_exchange(0, fresh + 1, Ordering::AcqRel, Ordering::Acquire);
            Some(stored.map_or_else(|winner| winner - 1, |_| fresh))
        }
        known => Some(known - 1),
    }
}

fn name() -> Vec<u8> {
    let mut name = [0u8; 16];
    // SAFETY: the kernel writes at most 16 bytes.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(16);
    name[..length].to_vec()
}

#[cold]
fn take(sink: &Sink) -> *mut Lane {
    let old = sink
        .idle
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop();
    let lane = old.map_or_else(
        || {
            Box::new(Lane {
                number: sink.lane_number(),
                taken: 0,
                chunk: None,
                at: 0,
                last: 0,
            })
        },
        |parked| parked.0,
    );
    let lane = Box::into_raw(lane);
    LANE.set(lane);
    if let Some(key) = key() {
        // SAFETY: a key of ours; the value is what its destructor expects.
        unsafe { libc::pthread_setspecific(key, lane.cast()) };
    }
    let name = sink.text(&name());
    let event = Event::Thread {
        tid: thread(),
        name,
    };
    // SAFETY: the lane is this thread's alone.
    unsafe { (*lane).append(sink, sink::now(), &event, &[]) };
    lane
}

/// Appends a record to this thread's lane.
#[inline]
pub(crate) fn append(sink: &Sink, time: u64, event: &Event, attributes: &[Attribute]) {
    let mut lane = LANE.get();
    if lane.is_null() {
        lane = take(sink);
    }
    // SAFETY: the lane is this thread's alone, and nothing called below records anything.
    unsafe { (*lane).append(sink, time, event, attributes) };
}

impl Lane {
    fn append(&mut self, sink: &Sink, time: u64, event: &Event, attributes: &[Attribute]) {
        // The word after the last record must stay zero: it ends the chunk.
        if self.chunk.is_none() || self.at + MAX_WORDS >= CHUNK_WORDS {
            self.renew(sink);
        }
        let Some(chunk) = &self.chunk else {
            sink.lose();
            return;
        };
        // A lane's first record tells the thread, after the time of the record that asked for the lane was taken.
        self.last = self.last.max(time);
        // SAFETY: `at` plus the longest record lies within the chunk, which is this lane's alone; the words were zero or
        // belong to no record yet.
        let out = unsafe { &mut *chunk.words.add(self.at).cast::<[u64; MAX_WORDS]>() };
        self.at += record::encode(self.last, event, attributes, out);
    }

    #[cold]
    fn renew(&mut self, sink: &Sink) {
        if let Some(old) = self.chunk.take() {
            old.close();
        }
        self.chunk = sink.chunk(RECORDS, self.number, self.taken);
        self.taken += 1;
        self.at = 0;
    }
}
