//! Stacks of inline slots: waiting threads run brief work on them, without their own signal stack.
//!
//! A signal stack costs two system calls a visit. Code whose use of the stack is bounded needs none: its faults are
//! handled on whatever stack the thread has for signals, or on its own inline stack. The handler knows the inline stack by the
//! stack pointer that the fault interrupts.

use super::record::Record;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stacks of the process; threads without one go the general way.
const STACKS: usize = 64;
/// Bytes from one to the next.
const SPAN: usize = 16 << 20;
/// Bytes of the stack, at the upper end; the rest is a guard.
const STACK: usize = 8 << 20;

/// The fraction of a limit on address space that all stacks may use.
const SHARE_OF_LIMIT: u64 = 16;

struct Region {
    base: usize,
    stacks: usize,
    records: usize,
}

/// The number of stacks that fit into their share of a limit on address space; it may be 0.
fn stacks(limit: Option<u64>) -> usize {
    let fit = limit.map_or(u64::MAX, |limit| limit / SHARE_OF_LIMIT / SPAN as u64);
    fit.min(STACKS as u64) as usize
}

static REGION: OnceLock<Option<Region>> = OnceLock::new();
/// Stacks created so far. They are never freed.
static MADE: AtomicUsize = AtomicUsize::new(0);

fn region() -> Option<&'static Region> {
    REGION
        .get_or_init(|| {
            let stacks = stacks(signal_mask::address_space_limit());
            if stacks == 0 {
                return None;
            }
            // SAFETY: fresh address space.
            let base = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    stacks * SPAN,
                    libc::PROT_NONE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                )
            };
            let records: Vec<Record> = (0..stacks).map(|_| Record::new(0)).collect();
            (base != libc::MAP_FAILED).then(|| Region {
                base: base as usize,
                stacks,
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
pub(super) struct InlineStack {
    pub(super) top: usize,
    pub(super) record: *mut Record,
}

impl InlineStack {
    /// Creates a stack; `None` if all are in use, or memory is short.
    pub(super) fn make() -> Option<Self> {
        let region = region()?;
        let index = MADE
            .try_update(Ordering::AcqRel, Ordering::Relaxed, |made| {
                (made < region.stacks).then_some(made + 1)
            })
            .ok()?;
        let top = region.base + (index + 1) * SPAN;
        // SAFETY: the upper part of this stack's address space, which no other stack has.
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

/// The record of the inline stack that holds `address`. Safe in signal handlers.
pub(super) fn record_of(address: usize) -> Option<*mut Record> {
    let region = REGION.get()?.as_ref()?;
    let index = address.checked_sub(region.base)? / SPAN;
    (index < MADE.load(Ordering::Acquire)).then(|| record(region, index))
}

/// The records of all stacks. Safe in signal handlers.
pub(super) fn records() -> impl Iterator<Item = *mut Record> {
    let region = REGION.get().and_then(Option::as_ref);
    region
        .into_iter()
        .flat_map(|region| (0..MADE.load(Ordering::Acquire)).map(|index| record(region, index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_stacks_take_a_sixteenth_of_a_limit_on_address_space() {
        for (limit, expected) in [
            (None, 64),
            (Some(u64::MAX), 64),
            (Some(16 << 30), 64),
            (Some(2 << 30), 8),
            (Some(1500 << 20), 5),
            (Some(255 << 20), 0),
            (Some(0), 0),
        ] {
            assert_eq!(stacks(limit), expected, "{limit:?}");
        }
    }
}
