//! Tracks: one thread at a time appends to a track. When a thread ends, the next one reuses its track, with a
//! half-filled chunk.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use timeline::file::RECORDS;
use timeline::record::{self, Attribute, Event, MAX_WORDS};

use crate::recording_file::{CHUNK_WORDS, Chunk, RecordingFile, now, thread};
use crate::strings::Strings;

/// A track and its open chunk.
pub(crate) struct Track {
    number: u32,
    /// Chunks used so far.
    taken: u64,
    chunk: Option<Chunk>,
    /// Words used of the chunk.
    at: usize,
    /// Time of the last record: readers rely on the order.
    last: u64,
}

/// Tracks whose threads have ended.
static IDLE: Mutex<Vec<Parked>> = Mutex::new(Vec::new());
/// Set in a forked child, which must not touch the tracks of its parent.
static ABANDONED: AtomicBool = AtomicBool::new(false);

/// Stops all tracks from now on. Async-signal-safe.
pub(crate) fn abandon() {
    ABANDONED.store(true, Ordering::Relaxed);
}

/// A track that waits for a thread; it is never moved, because threads hold its address.
struct Parked(Box<Track>);

thread_local! {
    /// This thread's track; null before its first record and after its end. Without a Rust destructor: a C one releases
    /// the track, and later records use another.
    static TRACK: Cell<*mut Track> = const { Cell::new(ptr::null_mut()) };
}

/// The key whose destructor releases tracks, plus one; 0 before it is created.
static KEY: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn give_back(track: *mut c_void) {
    TRACK.set(ptr::null_mut());
    if ABANDONED.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: `take` stored the value: a box that only this thread used.
    let track = unsafe { Box::from_raw(track.cast::<Track>()) };
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.push(Parked(track));
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
fn take(file: &RecordingFile, strings: &Strings) -> *mut Track {
    let old = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let track = old.map_or_else(
        || {
            Box::new(Track {
                number: file.track_number(),
                taken: 0,
                chunk: None,
                at: 0,
                last: 0,
            })
        },
        |parked| parked.0,
    );
    let track = Box::into_raw(track);
    TRACK.set(track);
    if let Some(key) = key() {
        // SAFETY: our key; its destructor expects this value.
        unsafe { libc::pthread_setspecific(key, track.cast()) };
    }
    let name = strings.number(file, &name());
    let event = Event::Thread {
        tid: thread(),
        name,
    };
    // SAFETY: the track is this thread's alone.
    unsafe { (*track).append(file, now(), &event, &[]) };
    track
}

/// Appends a record to this thread's track.
#[inline]
pub(crate) fn append(
    file: &RecordingFile,
    strings: &Strings,
    time: u64,
    event: &Event,
    attributes: &[Attribute],
) {
    let mut track = TRACK.get();
    if track.is_null() {
        track = take(file, strings);
    }
    // SAFETY: the track is this thread's alone, and nothing called below records anything.
    unsafe { (*track).append(file, time, event, attributes) };
}

impl Track {
    fn append(&mut self, file: &RecordingFile, time: u64, event: &Event, attributes: &[Attribute]) {
        // The word after the last record must stay zero: it ends the chunk.
        if self.chunk.is_none() || self.at + MAX_WORDS >= CHUNK_WORDS {
            self.renew(file);
        }
        let Some(chunk) = &self.chunk else {
            file.lose();
            return;
        };
        // A track's first record names the thread, after the time of the record that needed the track was taken.
        self.last = self.last.max(time);
        // SAFETY: `at` plus the longest record lies within the chunk, which is this track's alone; the words were zero or
        // belong to no record yet.
        let out = unsafe { &mut *chunk.words.add(self.at).cast::<[u64; MAX_WORDS]>() };
        self.at += record::encode(self.last, event, attributes, out);
    }

    #[cold]
    fn renew(&mut self, file: &RecordingFile) {
        if let Some(old) = self.chunk.take() {
            old.close();
        }
        self.chunk = file.chunk(RECORDS, self.number, self.taken);
        self.taken += 1;
        self.at = 0;
    }
}
