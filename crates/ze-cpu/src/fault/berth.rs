//! Stacks on which waiting threads run brief work, without a signal stack of their own.
//!
//! A signal stack costs two system calls a visit. Code whose use of the stack is bounded needs none: its faults are
//! handled on whatever stack the thread has for signals, or on the berth's own. The handler knows the berth by the
//! stack pointer that the fault interrupts.

use super::slot::Record;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that may have one at once; others take the longer way.
const BERTHS: usize = 64;
/// Bytes from one to the next.
const SPAN: usize = 16 << 20;
/// Bytes of the stack, at the upper end; what is below it nobody may touch.
const STACK: usize = 8 << 20;

struct Region {
    base: usize,
    records: usize,
}

static REGION: OnceLock<Option<Region>> = OnceLock::new();
/// Berths made so far. They are never given back.
static MADE: AtomicUsize = AtomicUsize::new(0);

fn region() -> Option<&'static Region> {
    REGION
        .get_or_init(|| {
            // SAFETY: fresh address space.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    BERTHS * SPAN,
                    libc::PROT_NONE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            let records: Vec<Record> = (0..BERTHS).map(|_| Record::new(0)).collect();
            (base != libc::MAP_FAILED).then(|| Region {
                base: base as usize,
                records: Vec::leak(records).as_mut_ptr() as usize,
            })
        })
        .as_ref()
}

fn record(region: &Region, index: usize) -> *mut Record {
    (region.records as *mut Record).wrapping_add(index)
}

/// A stack and its record.
#[derive(Debug)]
pub(super) struct Berth {
    pub(super) top: usize,
    pub(super) record: *mut Record,
}

impl Berth {
    /// A new one; none: all are made, or there is no memory.
    pub(super) fn make() -> Option<Self> {
        let region = region()?;
        let index = MADE
            .try_update(Ordering::AcqRel, Ordering::Relaxed, |made| {
                (made < BERTHS).then_some(made + 1)
            })
            .ok()?;
        let top = region.base + (index + 1) * SPAN;
        // SAFETY: the upper part of this berth's address space, which nobody else has.
        let opened = unsafe {
            libc::mprotect(
                (top - STACK) as *mut libc::c_void,
                STACK,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        };
        (opened == 0).then(|| Self {
            top,
            record: record(region, index),
        })
    }
}

/// The record of the berth whose stack holds `address`. Safe in signal handlers.
pub(super) fn record_of(address: usize) -> Option<*mut Record> {
    let region = REGION.get()?.as_ref()?;
    let index = address.checked_sub(region.base)? / SPAN;
    (index < MADE.load(Ordering::Acquire)).then(|| record(region, index))
}

/// The records of all berths. Safe in signal handlers.
pub(super) fn records() -> impl Iterator<Item = *mut Record> {
    let region = REGION.get().and_then(Option::as_ref);
    region
        .into_iter()
        .flat_map(|region| (0..MADE.load(Ordering::Acquire)).map(|index| record(region, index)))
}
