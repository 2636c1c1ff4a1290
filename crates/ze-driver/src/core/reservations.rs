//! Virtual reservations and physical memory: the objects.
//!
//! Spans cover a reservation. Each has one access attribute, and maps a part of one physical memory or nothing. The
//! system's page protection follows the spans.

use crate::address_space::{Access, Pages};
use crate::check::{error, lock};
use crate::core::exports::EXPORTS;
use crate::core::object;
use crate::device::MemoryKind;
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};
use ze_abi::{Head, ZeResult};

/// Memory without an address.
#[repr(C)]
pub(crate) struct PhysicalMemory {
    pub(super) head: Head,
    pub(super) pages: Backing,
    pub(super) id: u64,
    pub(super) kind: MemoryKind,
    pub(super) device: Option<usize>,
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        // Mapped memory could be exported until now, also after its handle was destroyed.
        let key = std::ptr::from_ref(self).addr();
        EXPORTS.forget(key);
    }
}
object!(
    PhysicalMemory,
    _ze_physical_mem_handle_t,
    b"ZePm",
    "physical memory"
);

pub(super) enum Backing {
    Fresh(Arc<dyn Pages>),
    Imported {
        file: OwnedFd,
        offset: u64,
        size: u64,
    },
}

impl PhysicalMemory {
    /// The file, and the memory's offset in it.
    pub(crate) fn file(&self) -> (BorrowedFd<'_>, u64) {
        match &self.pages {
            Backing::Fresh(pages) => (pages.file(), 0),
            Backing::Imported { file, offset, .. } => (file.as_fd(), *offset),
        }
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        match &self.pages {
            Backing::Fresh(pages) => pages.size(),
            Backing::Imported { size, .. } => *size,
        }
    }

    /// Host or device.
    pub(crate) fn kind(&self) -> MemoryKind {
        self.kind
    }
}

pub(super) struct Span {
    pub(super) len: u64,
    pub(super) access: Access,
    /// The mapped physical memory, and the offset of the span's first byte in it.
    pub(super) shows: Option<(Arc<PhysicalMemory>, u64)>,
}

pub(super) struct Reservation {
    pub(super) size: u64,
    /// Spans by address; together they cover the reservation.
    pub(super) spans: BTreeMap<usize, Span>,
}

impl Reservation {
    /// Splits spans so that one begins at `at`, which is inside the reservation or at its end.
    pub(super) fn split(&mut self, at: usize) {
        let Some((&start, span)) = self.spans.range_mut(..at).next_back() else {
            return;
        };
        let before = (at - start) as u64;
        if before >= span.len {
            return;
        }
        let rest = Span {
            len: span.len - before,
            access: span.access,
            shows: span
                .shows
                .as_ref()
                .map(|(memory, offset)| (Arc::clone(memory), offset + before)),
        };
        span.len = before;
        self.spans.insert(at, rest);
    }

    /// Replaces everything in `at..at + size` by one span.
    pub(super) fn replace(&mut self, at: usize, span: Span) {
        let end = at + span.len as usize;
        self.split(at);
        self.split(end);
        let old: Vec<_> = self.spans.range(at..end).map(|(&start, _)| start).collect();
        for start in old {
            self.spans.remove(&start);
        }
        self.spans.insert(at, span);
    }
}

/// Facts about an address in mapped virtual memory.
pub(crate) struct Mapped {
    /// First byte of the reservation.
    pub(crate) base: usize,
    /// Bytes of the reservation.
    pub(crate) size: u64,
    /// The memory mapped there.
    pub(crate) memory: Arc<PhysicalMemory>,
}

impl Mapped {
    /// Kind, device and id for allocation properties.
    pub(crate) fn properties(&self) -> (MemoryKind, Option<usize>, u64) {
        (self.memory.kind, self.memory.device, self.memory.id)
    }
}

/// Reservations and physical memories.
pub(crate) struct VirtualMemory {
    pub(super) reservations: Mutex<BTreeMap<usize, Reservation>>,
    pub(super) physical: Mutex<BTreeMap<usize, Weak<PhysicalMemory>>>,
}

/// The reservations and physical memories of this process.
pub(crate) static VIRTUAL_MEMORY: VirtualMemory = VirtualMemory {
    reservations: Mutex::new(BTreeMap::new()),
    physical: Mutex::new(BTreeMap::new()),
};

/// First id of physical memory, above the ids of allocations.
pub(super) const FIRST_ID: u64 = 1 << 48;

impl VirtualMemory {
    /// The physical memory with that handle.
    pub(crate) fn physical(&self, handle: usize) -> Option<Arc<PhysicalMemory>> {
        lock(&self.physical).get(&handle).and_then(Weak::upgrade)
    }

    /// The mapping at an address.
    pub(crate) fn mapped(&self, address: usize) -> Option<Mapped> {
        let all = lock(&self.reservations);
        let (&base, reservation) = all.range(..=address).next_back()?;
        let (&start, span) = reservation.spans.range(..=address).next_back()?;
        if (address - start) as u64 >= span.len {
            return None;
        }
        let (memory, _) = span.shows.as_ref()?;
        Some(Mapped {
            base,
            size: reservation.size,
            memory: Arc::clone(memory),
        })
    }

    /// Runs `act` on the reservation that contains the range; INVALID_ARGUMENT without one.
    pub(super) fn within<T>(
        &self,
        at: usize,
        size: u64,
        act: impl FnOnce(&mut Reservation) -> ZeResult<T>,
    ) -> ZeResult<T> {
        let mut all = lock(&self.reservations);
        let found = all.range_mut(..=at).next_back().filter(|(base, found)| {
            let before = (at - **base) as u64;
            before
                .checked_add(size)
                .is_some_and(|end| end <= found.size)
        });
        match found {
            Some((_, reservation)) => act(reservation),
            None => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("{size} bytes at ptr {at:#x} are not inside one virtual reservation"),
            ),
        }
    }
}
