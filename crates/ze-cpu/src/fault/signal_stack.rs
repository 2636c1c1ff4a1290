//! The signal stacks of guarded threads, in one region: the handler finds its thread's record by its stack address.

use super::record::{Record, thread_number};
use crate::numbers::Numbers;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Threads that may be guarded at once.
const SLOTS: usize = 2048;
/// The same if address space is scarce: 8 MiB of it instead of 128.
const FEW_SLOTS: usize = 128;
/// The fraction of a limit on address space that all slots may use.
const SHARE_OF_LIMIT: u64 = 16;
/// Bytes of a slot: a guard page, then the signal stack.
const SLOT: usize = 64 << 10;

/// All signal stacks, and a record for each.
pub(super) struct Region {
    base: usize,
    slots: usize,
    records: usize,
}

/// Slots that have an owner.
static OWNED: Numbers<{ SLOTS / 64 }> = Numbers::new();

/// Whether the guard page of a slot is closed; only the slot's owner looks.
static CLOSED: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

/// Slots that were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);

static REGION: OnceLock<Option<Region>> = OnceLock::new();

fn map_region(slots: usize) -> Option<Region> {
    // SAFETY: fresh anonymous memory.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            slots * (SLOT + 64),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    (base != libc::MAP_FAILED).then(|| Region {
        base: base as usize,
        slots,
        records: base as usize + slots * SLOT,
    })
}

/// The region, created by the first call. `None` if memory is short.
fn region() -> Option<&'static Region> {
    REGION
        .get_or_init(|| {
            let limit = signal_mask::address_space_limit();
            let most = limit.map_or(u64::MAX, |limit| limit / SHARE_OF_LIMIT);
            let many = Some(SLOTS).filter(|slots| (slots * SLOT) as u64 <= most);
            many.and_then(map_region).or_else(|| map_region(FEW_SLOTS))
        })
        .as_ref()
}

/// Whether threads can be guarded: there is memory for their signal stacks.
pub(crate) fn can_guard() -> bool {
    region().is_some()
}

/// The record of the thread whose signal stack holds `address`. Safe in signal handlers.
pub(super) fn record_of(address: usize) -> Option<*mut Record> {
    let region = REGION.get()?.as_ref()?;
    let slot = address.checked_sub(region.base)? / SLOT;
    (slot < region.slots).then(|| (region.records + slot * 64) as *mut Record)
}

/// The records of all threads that ever had a signal stack. Safe in signal handlers.
pub(super) fn records() -> impl Iterator<Item = *mut Record> {
    let region = REGION.get().and_then(Option::as_ref);
    region.into_iter().flat_map(|region| {
        (0..USED.load(Ordering::Acquire)).map(|slot| (region.records + slot * 64) as *mut Record)
    })
}

/// The calling thread's signal stack, until [`Self::leave`].
#[derive(Debug)]
pub(super) struct SignalStack {
    slot: usize,
    /// The signal stack that the thread had before.
    before: libc::stack_t,
}

impl SignalStack {
    /// Gives the calling thread a signal stack and a new record. `None` if there are too many threads, or memory is
    /// short.
    pub(super) fn enter() -> Option<(Self, *mut Record)> {
        let region = region()?;
        let slot = OWNED.take()?;
        if slot >= region.slots {
            OWNED.give_back(slot);
            return None;
        }
        // Relaxed: the slot was freed and taken in order.
        let fresh = !CLOSED[slot].swap(true, Ordering::Relaxed);
        USED.fetch_max(slot + 1, Ordering::AcqRel);
        let stack = region.base + slot * SLOT;
        let record = (region.records + slot * 64) as *mut Record;
        // SAFETY: slot and record are owned until freed; the signal stack is inside the slot and its first page becomes
        // the guard.
        let before = unsafe {
            if fresh {
                libc::mprotect(stack as *mut libc::c_void, 4096, libc::PROT_NONE);
            }
            record.write(Record::new(thread_number()));
            let mut before: libc::stack_t = std::mem::zeroed();
            let own = libc::stack_t {
                ss_sp: (stack + 4096) as *mut libc::c_void,
                ss_flags: 0,
                ss_size: SLOT - 4096,
            };
            libc::sigaltstack(&own, &mut before);
            before
        };
        Some((Self { slot, before }, record))
    }

    /// Restores the thread's earlier signal stack. Called once, by the thread that entered.
    pub(super) fn leave(&self) {
        // SAFETY: puts back the stack that `enter` found on this thread.
        unsafe {
            libc::sigaltstack(&self.before, std::ptr::null_mut());
        }
        OWNED.give_back(self.slot);
    }
}
