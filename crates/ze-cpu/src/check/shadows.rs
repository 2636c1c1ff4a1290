//! The shadows of device memory: a byte for each byte, whose bits are set where nobody has written the byte's.
//!
//! Shared and host memory, and memory that is not known, share a *zone*, an area of zeros: their pointers lead to its middle.
//! What a kernel stores there is cleared at once. So kernels compute the address of a shadow like that of the data.
//!
//! New device memory is filled with a pattern. Where a page that nobody has written has lost it, the program has written the page
//! through its pointer, which some devices allow: it counts as initialised. So does a page where a kernel has stored a value that
//! is not initialised, once memory holds another value there.

use kernel_checker::Mistake;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use ze_driver::device::{AllocInfo, MemoryKind};

/// Bytes on either side of a shadow that accesses outside of the allocation may hit; they take no memory before.
const PADDING: usize = 1 << 24;
/// Sizes of the zone: the first that the system gives.
const ZONES: [usize; 2] = [1 << 38, 1 << 36];
/// Addresses keep their position in a page, and thereby their alignment.
const PAGE: u64 = 4096;
/// Stores that are remembered.
const MOST_SUSPECTS: usize = 1 << 20;
/// So many bytes of a store are compared with memory.
const COMPARED: usize = 16;
/// A store to the page before may reach so far into a page.
const LONGEST_STORE: u64 = 128;
/// The contents of new device memory.
const PATTERN: u8 = 0xcd;

/// A store of a value that is not initialised.
#[derive(Clone)]
struct Suspect {
    mistake: Mistake,
    /// The first bytes that it has left in memory; `None` until its work-groups have run.
    bytes: Option<[u8; COMPARED]>,
}

impl Suspect {
    fn new(mistake: Mistake) -> Self {
        Self {
            mistake,
            bytes: None,
        }
    }

    /// How many of the bytes are compared.
    fn compared(&self) -> usize {
        COMPARED.min(self.mistake.size as usize)
    }

    /// Whether the program has written other bytes to the place, which is at `from` in `shadow` and `data`.
    fn is_overwritten(&self, from: usize, shadow: &[u8], data: &[u8]) -> bool {
        let place = from..from + self.compared();
        let Some((stored, (shadow, data))) = self
            .bytes
            .zip(shadow.get(place.clone()).zip(data.get(place)))
        else {
            return false;
        };
        // Kernels and commands that overwrite a byte clear its shadow.
        !shadow.contains(&0) && *data != stored[..data.len()]
    }
}

/// The stores of values that are not initialised.
#[derive(Default)]
struct Suspects {
    by_address: BTreeMap<u64, Suspect>,
    /// Addresses of stores whose bytes are not known.
    fresh: Vec<u64>,
}

impl Suspects {
    fn insert(&mut self, address: u64, suspect: Suspect) {
        if self.by_address.len() < MOST_SUSPECTS {
            if suspect.bytes.is_none() {
                self.fresh.push(address);
            }
            self.by_address.insert(address, suspect);
        }
    }

    /// Whether the program has written to the part of an allocation from `start` on, with this shadow and these contents.
    fn has_host_written(&self, start: u64, shadow: &[u8], data: &[u8]) -> bool {
        // Without an early end: that is code for vectors.
        let has_lost_pattern = |from: usize, to: usize| {
            let both = shadow[from..to].iter().zip(&data[from..to]);
            both.fold(false, |lost, (&shadow, &data)| {
                lost | (shadow == 0xff && data != PATTERN)
            })
        };
        let end = start + shadow.len() as u64;
        let mut seen = 0;
        for (&at, suspect) in self
            .by_address
            .range(start.saturating_sub(LONGEST_STORE)..end)
        {
            let offset = |address: u64| address.clamp(start, end).abs_diff(start) as usize;
            let (from, to) = (offset(at), offset(at + u64::from(suspect.mistake.size)));
            if (seen < from && has_lost_pattern(seen, from))
                || (at >= start && suspect.is_overwritten(from, shadow, data))
            {
                return true;
            }
            seen = seen.max(to);
        }
        has_lost_pattern(seen, shadow.len())
    }

    /// Forgets stores to a range.
    fn drop_range(&mut self, start: u64, bytes: u64) {
        let range = start..start.saturating_add(bytes);
        let old: Vec<u64> = self.by_address.range(range).map(|(&at, _)| at).collect();
        for at in old {
            self.by_address.remove(&at);
        }
    }
}

struct Mapping {
    at: usize,
    bytes: usize,
}

impl Mapping {
    /// Zeros that take no memory until they are written.
    fn new(bytes: usize) -> Option<Self> {
        // SAFETY: a new mapping.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        (at != libc::MAP_FAILED).then_some(Self {
            at: at as usize,
            bytes,
        })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody uses it any more.
        unsafe { libc::munmap(self.at as *mut _, self.bytes) };
    }
}

struct Shadow {
    size: u64,
    /// The first byte's.
    at: u64,
    mapping: Mapping,
    /// The launch for which the pattern was looked for.
    seen: AtomicU64,
    /// A bit for each page in which all bytes were once written: the pattern is not looked for there any more.
    written: Box<[AtomicU64]>,
}

pub(super) struct Shadows {
    /// It stays for the life of the process, like the thread that may run a kernel when it ends.
    zone: Mapping,
    /// By the first byte.
    live: Mutex<BTreeMap<u64, Shadow>>,
    /// Of memory that was freed, and is kept.
    freed: Mutex<HashMap<u64, Shadow>>,
    /// Launches so far.
    launch: AtomicU64,
    suspects: Mutex<Suspects>,
}

impl Shadows {
    /// `None` if the system gives no memory for the zone.
    pub(super) fn new() -> Option<Self> {
        Some(Self {
            zone: ZONES.into_iter().find_map(Mapping::new)?,
            live: Mutex::default(),
            freed: Mutex::default(),
            launch: AtomicU64::new(0),
            suspects: Mutex::default(),
        })
    }

    fn with<R>(&self, address: u64, body: impl FnOnce(u64, &Shadow) -> R) -> Option<R> {
        let live = crate::sync::lock(&self.live);
        let (&start, shadow) = live.range(..=address).next_back()?;
        (address - start <= shadow.size).then(|| body(start, shadow))
    }

    /// Memory was allocated: the address of its shadow, if it has one.
    pub(super) fn allocated(&self, info: &AllocInfo) -> Option<u64> {
        if info.kind != MemoryKind::Device || info.imported {
            return None;
        }
        let (start, bytes) = (info.base as u64, info.size as usize);
        // Pattern and shadow take memory that the program may never touch.
        if info.size > free_memory() / 4 {
            return None;
        }
        let room = bytes.checked_add(2 * PADDING);
        let mapping = room.and_then(Mapping::new)?;
        let at = (mapping.at + PADDING) as u64 + start % PAGE;
        // SAFETY: the shadow is that large, and so is the allocation, which the program does not know yet.
        unsafe {
            (at as *mut u8).write_bytes(0xff, bytes);
            info.base.write_bytes(PATTERN, bytes);
        }
        let shadow = Shadow {
            size: info.size,
            at,
            mapping,
            seen: AtomicU64::new(0),
            written: (0..info.size / PAGE / 64 + 1)
                .map(|_| AtomicU64::new(0))
                .collect(),
        };
        crate::sync::lock(&self.live).insert(start, shadow);
        Some(at)
    }

    /// The program has freed an allocation; commands may still access it.
    pub(super) fn freed(&self, start: u64) {
        let Some(shadow) = crate::sync::lock(&self.live).remove(&start) else {
            return;
        };
        crate::sync::lock(&self.suspects).drop_range(start, shadow.size);
        crate::sync::lock(&self.freed).insert(start, shadow);
    }

    /// The memory of a freed allocation goes.
    pub(super) fn let_go(&self, start: u64) {
        let shadow = crate::sync::lock(&self.freed).remove(&start);
        drop(shadow.map(|shadow| shadow.mapping));
    }

    /// A launch begins.
    pub(super) fn launch_begins(&self) {
        self.launch.fetch_add(1, Ordering::Relaxed);
    }

    /// The shadow of what `pointer` points to.
    pub(super) fn of(&self, pointer: u64) -> u64 {
        let launch = self.launch.load(Ordering::Relaxed);
        let seen = |_, shadow: &Shadow| shadow.seen.swap(launch, Ordering::Relaxed);
        if self.with(pointer, seen).is_some_and(|seen| seen != launch) {
            self.see_host(pointer, None);
        }
        self.with(pointer, |start, shadow| shadow.at + (pointer - start))
            .unwrap_or((self.zone.at + self.zone.bytes / 2) as u64 + pointer % PAGE)
    }

    /// Finds out whether the program has written through its pointer to the allocation, or to the first `bytes` after `pointer`.
    fn see_host(&self, pointer: u64, bytes: Option<u64>) {
        let mut suspects = crate::sync::lock(&self.suspects);
        self.with(pointer, |start, shadow| {
            let written = &shadow.written;
            let mut page = start;
            let mut end = start + shadow.size;
            if let Some(bytes) = bytes {
                page = start.max(pointer & !(PAGE - 1));
                end = end.min(pointer.saturating_add(bytes));
            }
            while page < end {
                let next = ((page / PAGE + 1) * PAGE).min(start + shadow.size);
                let number = page / PAGE - start / PAGE;
                let (word, bit) = (written.get((number / 64) as usize), 1 << (number % 64));
                if word.is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0) {
                    page = next;
                    continue;
                }
                let len = (next - page) as usize;
                // SAFETY: both are as long as the allocation, which lives as long as it is registered. Commands that run
                // meanwhile may make bytes look written.
                let (shadow, data) = unsafe {
                    (
                        std::slice::from_raw_parts_mut(
                            (shadow.at + (page - start)) as *mut u8,
                            len,
                        ),
                        std::slice::from_raw_parts(page as *const u8, len),
                    )
                };
                // Without an early end: that is code for vectors.
                if shadow.iter().fold(0, |all, byte| all | byte) == 0 {
                    if let Some(word) = word {
                        word.fetch_or(bit, Ordering::Relaxed);
                    }
                    page = next;
                    continue;
                }
                if suspects.has_host_written(page, shadow, data) {
                    shadow.fill(0);
                    suspects.drop_range(page, next - page);
                }
                page = next;
            }
        });
    }

    /// Nothing counts as uninitialised any more.
    pub(super) fn forget(&self) {
        *crate::sync::lock(&self.suspects) = Suspects::default();
        for shadow in crate::sync::lock(&self.live).values() {
            // SAFETY: the shadow is that large.
            unsafe { (shadow.at as *mut u8).write_bytes(0, shadow.size as usize) };
        }
    }

    /// The part of a range that has a shadow: its first byte, that byte's shadow and the bytes.
    fn part(&self, address: u64, bytes: u64) -> Option<(*mut u8, usize)> {
        self.with(address, |start, shadow| {
            let offset = address - start;
            let bytes = bytes.min(shadow.size - offset) as usize;
            ((shadow.at + offset) as *mut u8, bytes)
        })
        .filter(|(_, bytes)| *bytes > 0)
    }

    /// A kernel has stored a value that is not initialised to `address`, and its shadow to `shadow`. Returns the mistake if the
    /// value has left the device.
    pub(super) fn stored(
        &self,
        address: u64,
        shadow: u64,
        is_copy: bool,
        mistake: Mistake,
    ) -> Option<Mistake> {
        let bytes = u64::from(mistake.size);
        if shadow == 0 {
            return None;
        }
        let here = self.part(address, bytes);
        if let Some((at, bytes)) = here {
            // SAFETY: the part is in the shadow.
            let shadow = unsafe { std::slice::from_raw_parts(at, bytes) };
            // Padding may be part of what is copied.
            let is_partial = is_copy && shadow.contains(&0);
            if is_partial {
                crate::sync::lock(&self.suspects)
                    .by_address
                    .remove(&address);
            } else {
                self.suspects_of(address, mistake);
            }
            return None;
        }
        let offset = shadow.wrapping_sub(self.zone.at as u64);
        if offset.saturating_add(bytes) > self.zone.bytes as u64 {
            // The work-group's memory.
            self.suspects_of(address, mistake);
            return None;
        }
        // SAFETY: this is in the zone.
        let is_whole = unsafe {
            let shadow = std::slice::from_raw_parts_mut(shadow as *mut u8, bytes as usize);
            let is_whole = !shadow.contains(&0);
            shadow.fill(0);
            is_whole
        };
        (is_whole || !is_copy).then_some(mistake)
    }

    /// Pages hold values again that are not initialised.
    fn unwritten(&self, start: u64, bytes: u64) {
        self.with(start, |allocation, shadow| {
            let first = start / PAGE - allocation / PAGE;
            let last = start.saturating_add(bytes.max(1) - 1) / PAGE - allocation / PAGE;
            for page in first..=last.min(shadow.size / PAGE + 1) {
                if let Some(word) = shadow.written.get((page / 64) as usize) {
                    word.fetch_and(!(1 << (page % 64)), Ordering::Relaxed);
                }
            }
        });
    }

    fn suspects_of(&self, address: u64, mistake: Mistake) {
        self.unwritten(address, u64::from(mistake.size));
        crate::sync::lock(&self.suspects).insert(address, Suspect::new(mistake));
    }

    /// Work-groups have run: notes the bytes that their stores have left.
    pub(super) fn groups_end(&self) {
        let mut suspects = crate::sync::lock(&self.suspects);
        for address in std::mem::take(&mut suspects.fresh) {
            let Some(suspect) = suspects.by_address.get_mut(&address) else {
                continue;
            };
            let len = suspect.compared();
            suspect.bytes = self.with(address, |start, shadow| {
                let mut bytes = [0; COMPARED];
                let len = len.min((start + shadow.size - address) as usize);
                // SAFETY: the bytes are in the allocation, which lives as long as it is registered.
                unsafe {
                    std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), len)
                };
                bytes
            });
        }
    }

    /// A work-group begins with this memory.
    pub(super) fn group_begins(&self, memory: u64, bytes: u64) {
        crate::sync::lock(&self.suspects).drop_range(memory, bytes);
    }

    /// The store that has left a value that is not initialised at `address`.
    pub(super) fn suspect(&self, address: u64) -> Option<Mistake> {
        let suspects = crate::sync::lock(&self.suspects);
        let (&at, suspect) = suspects.by_address.range(..=address).next_back()?;
        (address - at < u64::from(suspect.mistake.size)).then(|| suspect.mistake.clone())
    }

    /// A command has written memory.
    pub(super) fn written(&self, to: u64, bytes: u64) {
        if let Some((at, bytes)) = self.part(to, bytes) {
            // SAFETY: the part is in the shadow.
            unsafe { at.write_bytes(0, bytes) };
            crate::sync::lock(&self.suspects).drop_range(to, bytes as u64);
        }
    }

    /// A command has copied memory. Returns the mistakes if it has left the device.
    pub(super) fn copied(&self, to: u64, from: u64, bytes: u64) -> Vec<Mistake> {
        self.see_host(from, Some(bytes));
        let source = self.part(from, bytes);
        let Some((source, len)) = source.filter(|(_, len)| *len as u64 == bytes) else {
            self.written(to, bytes);
            return Vec::new();
        };
        // SAFETY: the part is in the shadow.
        let is_whole = unsafe { std::slice::from_raw_parts(source, len) }
            .iter()
            .all(|&byte| byte == 0);
        if is_whole {
            self.written(to, bytes);
            return Vec::new();
        }
        let mut suspects = crate::sync::lock(&self.suspects);
        let moved: Vec<(u64, Suspect)> = suspects
            .by_address
            .range(from..from + bytes)
            .map(|(&at, suspect)| (at, suspect.clone()))
            .collect();
        match self.part(to, bytes) {
            Some((target, room)) => {
                self.unwritten(to, room as u64);
                suspects.drop_range(to, bytes);
                for (at, suspect) in moved {
                    suspects.insert(at - from + to, suspect);
                }
                // SAFETY: both parts are in shadows.
                unsafe { target.copy_from(source, len.min(room)) };
                Vec::new()
            }
            None => moved
                .into_iter()
                .map(|(at, suspect)| (at, suspect.mistake))
                .filter(|(at, mistake)| {
                    let first = (at - from) as usize;
                    let last = (first + mistake.size as usize).min(len);
                    // SAFETY: as above.
                    let shadow = unsafe { std::slice::from_raw_parts(source, len) };
                    shadow[first..last].iter().any(|&byte| byte != 0)
                })
                .map(|(_, mistake)| mistake)
                .collect(),
        }
    }
}

/// Bytes of the machine that are free.
fn free_memory() -> u64 {
    // SAFETY: both only read settings.
    let [pages, bytes] = unsafe {
        [
            libc::sysconf(libc::_SC_AVPHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        ]
    };
    let [pages, bytes] = [pages, bytes].map(|n| u64::try_from(n).unwrap_or(0));
    pages.saturating_mul(bytes)
}
