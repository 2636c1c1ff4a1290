//! Use of the devices by processes: a page of counters for each process, which other processes of the same user read.
//!
//! The page lies in a file that [`Pages`] names, so that another process (`solum top`) sees this one's work. Where no
//! such file can be made it is private memory, and only this process sees itself.
//!
//! Layout, native byte order: 64 bytes of head, 64 entries of 32 bytes for devices (UUID, bytes of device memory, bytes
//! of shared memory), [`SLOTS`] slots of 64 bytes, one for each thread that runs work. A slot's first two words are times
//! in kernels and in copies: below 2^63 a sum in ns; with the top bit set the moment, less the sum so far, at which work
//! that still runs began.
//!
//! Invariants
//! - A slot has one writer at a time; words are written whole, so that sums never go back.
//! - Values of other processes' pages are capped: no thread worked for longer than its process lives, no process for longer
//!   than all processors together.

use super::pages::{self, Identity, Pages, Peer};
use crate::clock::now_ns;
use crate::numbers::Numbers;
use crate::sync::lock;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use ze_driver::device::MemoryKind;
use ze_driver::telemetry::{ProcessUse, Work};

/// Threads that are counted at once; more share the last slot, uncounted by others.
const SLOTS: usize = 256;
/// Devices that have an entry.
const DEVICES: usize = 64;
/// Marks a time under way.
const BUSY: u64 = 1 << 63;

/// The kind of a thread's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs a kernel.
    Compute,
    /// Copies or fills.
    Copy,
}

#[repr(C)]
struct Page {
    head: [AtomicU64; pages::HEAD],
    devices: [Entry; DEVICES],
    slots: [Slot; SLOTS],
}

#[repr(C)]
struct Entry {
    uuid: [AtomicU64; 2],
    device_bytes: AtomicU64,
    shared_bytes: AtomicU64,
}

#[repr(C)]
struct Slot {
    /// By [`Kind`].
    times: [AtomicU64; 2],
    /// The current or last work: kind + 1, and the device's entry from bit 8 on.
    what: AtomicU64,
    /// When that began.
    since: AtomicU64,
    kernels: AtomicU64,
    groups: AtomicU64,
    bytes: AtomicU64,
    reserved: AtomicU64,
}

const _: () = assert!(size_of::<Page>() == 64 + 32 * DEVICES + 64 * SLOTS);

/// The counters of this process.
pub(crate) struct Usage {
    page: &'static Page,
    /// Slots that threads own; the last is shared by threads that find no free one.
    given: Numbers<{ SLOTS / 64 }>,
    /// The folder of other processes' pages, if this process reads them.
    pages: Option<Pages>,
    /// Why other processes do not see this one.
    hidden: Option<String>,
    seen: Mutex<Seen>,
}

/// Readings of other processes; the sums of ended ones are kept.
#[derive(Default)]
struct Seen {
    alive: HashMap<Identity, [u64; 2]>,
    ended: [u64; 2],
}

/// The page of this process, to be removed at its end: its file, its directory, and the process that made it.
static OWN: OnceLock<(CString, CString, Identity)> = OnceLock::new();

extern "C" fn remove_own() {
    if let Some((file, directory, made_by)) = OWN.get() {
        // A forked child does not change its parent's file.
        if made_by.pid == std::process::id() && *made_by == Identity::of_this() {
            pages::remove(file, directory);
        }
    }
}

/// Removes a page when the process ends.
fn remove_at_exit(file: &Path, me: Identity) {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
    if let Some((file, directory)) = text(file).zip(file.parent().and_then(text))
        && OWN.set((file, directory, me)).is_ok()
    {
        // SAFETY: the handler is a static function of this library, which is never unloaded.
        unsafe { libc::atexit(remove_own) };
    }
}

impl Usage {
    /// The process's own, made by the first call. A process that has more rights than its user neither shows itself
    /// nor looks at others.
    pub(crate) fn own() -> &'static Self {
        static ONE: OnceLock<Usage> = OnceLock::new();
        ONE.get_or_init(|| {
            // SAFETY: reads a word that the kernel gave the process.
            let privileged = unsafe { libc::getauxval(libc::AT_SECURE) != 0 };
            if privileged {
                return Self::with(None, false);
            }
            Self::below(Path::new("/dev/shm"), true)
        })
    }

    /// Counters with a file below `folder`, if wanted and possible.
    pub(crate) fn below(folder: &Path, publish: bool) -> Self {
        Self::with(Some(Pages::below(folder, size_of::<Page>())), publish)
    }

    fn with(pages: Option<Pages>, publish: bool) -> Self {
        let me = pages.as_ref().map_or_else(Identity::of_this, Pages::me);
        let mut hidden = None;
        let mut published = None;
        if let Some(pages) = pages.as_ref().filter(|_| publish) {
            match pages.publish() {
                Ok(page) => published = Some(page),
                Err(why) => hidden = Some(why),
            }
        }
        let base = match published {
            Some(page) => {
                remove_at_exit(&page.file, me);
                page.memory
            }
            None => private(),
        };
        // SAFETY: mapped for the process's life, large enough and zeroed; all words are atomic.
        let page = unsafe { &*base.cast::<Page>() };
        // The first word is written last: from then on the page counts.
        for (place, word) in page.head.iter().zip(me.head()).rev() {
            place.store(word, Ordering::Release);
        }
        Self {
            page,
            given: Numbers::new(),
            pages,
            hidden,
            seen: Mutex::default(),
        }
    }

    /// Why other processes cannot see this one, although they should.
    pub(crate) fn hidden(&self) -> Option<&str> {
        self.hidden.as_deref()
    }

    fn me(&self) -> Identity {
        self.pages
            .as_ref()
            .map_or_else(Identity::of_this, Pages::me)
    }

    /// Names the devices, roots in their order.
    pub(crate) fn name_devices(&self, uuids: &[[u8; 16]]) {
        for (entry, uuid) in self.page.devices.iter().zip(uuids) {
            for (word, half) in entry.uuid.iter().zip(halves(uuid)) {
                word.store(half, Ordering::Relaxed);
            }
        }
    }

    /// Counts memory that was allocated (`bytes` positive) or freed. Memory without a device is not counted.
    pub(crate) fn memory(&self, device: Option<usize>, kind: MemoryKind, bytes: i64) {
        let Some(entry) = device.and_then(|device| self.page.devices.get(device)) else {
            return;
        };
        let count = match kind {
            MemoryKind::Device => &entry.device_bytes,
            MemoryKind::Host | MemoryKind::Shared => &entry.shared_bytes,
        };
        // Wrapping: a negative count is added as its complement.
        count.fetch_add(bytes.cast_unsigned(), Ordering::Relaxed);
    }

    /// A meter for the calling thread.
    pub(crate) fn meter(&'static self) -> Meter {
        let index = self.given.take().filter(|index| *index < SLOTS - 1);
        let slot = &self.page.slots[index.unwrap_or(SLOTS - 1)];
        Meter {
            usage: self,
            index,
            slot,
            totals: [
                slot.times[0].load(Ordering::Relaxed) & !BUSY,
                slot.times[1].load(Ordering::Relaxed) & !BUSY,
            ],
            running: None,
        }
    }

    /// The work of this process's threads.
    pub(crate) fn work(&self) -> Work {
        let time_ns = now_ns();
        let mut work = Work {
            time_ns,
            ..Work::default()
        };
        for slot in &self.page.slots {
            let of = |word: &AtomicU64| word.load(Ordering::Relaxed);
            work.compute_ns += time_of(of(&slot.times[0]), time_ns);
            work.copy_ns += time_of(of(&slot.times[1]), time_ns);
            work.kernels += of(&slot.kernels);
            work.groups += of(&slot.groups);
            work.bytes += of(&slot.bytes);
        }
        work
    }

    /// Nanoseconds of all processes' threads in kernels and in copies; never less than before.
    pub(crate) fn times(&self) -> [u64; 2] {
        let now = now_ns();
        let mut seen = lock(&self.seen);
        let mut alive = HashMap::new();
        let work = self.work();
        alive.insert(self.me(), [work.compute_ns, work.copy_ns]);
        let visited = self.visit(|peer| {
            let mut sums = sums_of(peer, now);
            if let Some(before) = seen.alive.get(&peer.identity) {
                sums = [sums[0].max(before[0]), sums[1].max(before[1])];
            }
            alive.insert(peer.identity, sums);
        });
        let before = std::mem::replace(&mut seen.alive, alive);
        for (identity, sums) in before {
            if seen.alive.contains_key(&identity) {
                continue;
            }
            // A process that was missed this time counts on: it would count twice once it is found again.
            if visited.is_err() || self.is_alive(identity) {
                seen.alive.insert(identity, sums);
            } else {
                seen.ended = together(seen.ended, sums);
            }
        }
        seen.alive
            .values()
            .fold(seen.ended, |all, sums| together(all, *sums))
    }

    /// Processes that have the device of that UUID.
    pub(crate) fn processes(&self, uuid: &[u8; 16]) -> Vec<ProcessUse> {
        let mut found: Vec<_> = use_of(self.me().pid, &words_of(self.page), uuid)
            .into_iter()
            .collect();
        // The processes found so far are enough: the next call looks again.
        let _ = self.visit(|peer| {
            // The number of a process of another namespace is another process's in this one.
            if peer.verified {
                found.extend(use_of(peer.identity.pid, peer.words, uuid));
            }
        });
        found.sort_by_key(|process| process.pid);
        found
    }

    fn visit(&self, see: impl FnMut(&Peer<'_>)) -> std::io::Result<()> {
        self.pages.as_ref().map_or(Ok(()), |pages| pages.visit(see))
    }

    fn is_alive(&self, identity: Identity) -> bool {
        let pages = self.pages.as_ref();
        pages.is_some_and(|pages| pages.is_alive(identity))
    }
}

/// Nanoseconds that a process worked, capped as the module's documentation says.
fn sums_of(peer: &Peer<'_>, now: u64) -> [u64; 2] {
    let mut sums = [0_u64; 2];
    for slot in peer.words[SLOTS_AT..].chunks_exact(8) {
        let time = |word| time_of(word, now).min(peer.age);
        sums = together(sums, [time(slot[0]), time(slot[1])]);
    }
    let most = peer.age.saturating_mul(pages::processors());
    sums.map(|sum| sum.min(most))
}

fn together(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [
        one[0].saturating_add(other[0]),
        one[1].saturating_add(other[1]),
    ]
}

/// A process's use of a device, if it has the device.
fn use_of(pid: u32, words: &[u64], uuid: &[u8; 16]) -> Option<ProcessUse> {
    let wanted = halves(uuid);
    let mut entries = words[ENTRIES_AT..SLOTS_AT].chunks_exact(4);
    let at = entries.position(|entry| entry[..2] == wanted)?;
    let entry = &words[ENTRIES_AT + at * 4..][..4];
    let slots = || {
        words[SLOTS_AT..]
            .chunks_exact(8)
            .filter(|slot| slot[2] != 0 && (slot[2] >> 8) as usize == at)
    };
    let busy = |slot: &[u64]| (slot[0] | slot[1]) & BUSY != 0;
    // The slots at work now; if none is, the last one that was.
    let mut kinds = [false; 2];
    let now: Vec<&[u64]> = slots().filter(|slot| busy(slot)).collect();
    let counted = if now.is_empty() {
        slots().max_by_key(|slot| slot[3]).into_iter().collect()
    } else {
        now
    };
    for slot in counted {
        if let Some(kind) = kinds.get_mut(((slot[2] & 0xff) as usize).wrapping_sub(1)) {
            *kind = true;
        }
    }
    Some(ProcessUse {
        pid,
        // Another user's page may claim anything.
        device_bytes: entry[2].min(pages::memory()),
        shared_bytes: entry[3].min(pages::memory()),
        compute: kinds[0],
        copy: kinds[1],
    })
}

/// First word of the devices' entries and of the slots.
const ENTRIES_AT: usize = pages::HEAD;
const SLOTS_AT: usize = ENTRIES_AT + 4 * DEVICES;
const WORDS: usize = size_of::<Page>() / 8;

/// Reads any bytes as the page of a process that has run for `age` nanoseconds: the work of the fuzz target `counters`.
pub fn read_counters(bytes: &[u8], age: u64) {
    let words = bytes.as_chunks::<8>().0.iter();
    let words = words.map(|word| u64::from_ne_bytes(*word));
    let words: Vec<u64> = words.chain(std::iter::repeat(0)).take(WORDS).collect();
    let identity = Identity::of_head(&words).unwrap_or(Identity::of_this());
    let peer = Peer {
        identity,
        verified: false,
        age,
        words: &words,
    };
    let most = age.saturating_mul(pages::processors());
    assert!(sums_of(&peer, now_ns()).iter().all(|sum| *sum <= most));
    let mut uuid = [0; 16];
    for (half, word) in uuid
        .as_chunks_mut::<8>()
        .0
        .iter_mut()
        .zip(&words[ENTRIES_AT..])
    {
        *half = word.to_ne_bytes();
    }
    // The first entry has that name.
    let found = use_of(identity.pid, &words, &uuid);
    assert!(found.is_some_and(|found| {
        found.pid == identity.pid && found.device_bytes.max(found.shared_bytes) <= pages::memory()
    }));
}

fn words_of(page: &Page) -> Vec<u64> {
    let base = std::ptr::from_ref(page).cast::<AtomicU64>();
    // SAFETY: the page is a row of `WORDS` atomic words.
    let words = unsafe { std::slice::from_raw_parts(base, WORDS) };
    words
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect()
}

fn time_of(word: u64, now: u64) -> u64 {
    if word & BUSY == 0 {
        word
    } else {
        now.saturating_sub(word & !BUSY)
    }
}

fn halves(uuid: &[u8; 16]) -> [u64; 2] {
    let (low, high) = uuid.split_at(8);
    [low, high].map(|half| half.try_into().map_or(0, u64::from_ne_bytes))
}

/// Private memory for a page; ends the process only if even that is not available.
fn private() -> *mut libc::c_void {
    Box::into_raw(vec![0_u64; WORDS].into_boxed_slice()).cast()
}

/// A thread's counters.
pub(crate) struct Meter {
    usage: &'static Usage,
    index: Option<usize>,
    slot: &'static Slot,
    totals: [u64; 2],
    running: Option<(Kind, u64)>,
}

impl Meter {
    /// Work of that kind begins on the device with that index.
    pub(crate) fn begin(&mut self, kind: Kind, device: usize, now: u64) {
        let at = kind as usize;
        let what = (at as u64 + 1) | ((device as u64) << 8);
        self.slot.what.store(what, Ordering::Relaxed);
        self.slot.since.store(now, Ordering::Relaxed);
        let mark = now.saturating_sub(self.totals[at]) | BUSY;
        self.slot.times[at].store(mark, Ordering::Relaxed);
        self.running = Some((kind, now));
    }

    /// The work ends.
    pub(crate) fn end(&mut self, now: u64) {
        if let Some((kind, since)) = self.running.take() {
            let at = kind as usize;
            self.totals[at] += now.saturating_sub(since);
            self.slot.times[at].store(self.totals[at], Ordering::Relaxed);
        }
    }

    /// Counts a kernel that begins.
    pub(crate) fn kernel(&self) {
        add(&self.slot.kernels, 1);
    }

    /// Counts work-groups.
    pub(crate) fn groups(&self, count: u64) {
        add(&self.slot.groups, count);
    }

    /// Counts bytes moved.
    pub(crate) fn bytes(&self, count: u64) {
        add(&self.slot.bytes, count);
    }
}

/// The slot has one writer, except the last, whose counts may be lost.
fn add(word: &AtomicU64, count: u64) {
    let sum = word.load(Ordering::Relaxed).wrapping_add(count);
    word.store(sum, Ordering::Relaxed);
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.end(now_ns());
        if let Some(index) = self.index {
            self.usage.given.give_back(index);
        }
    }
}

#[cfg(test)]
mod peers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_any_bytes_are_read_within_limits() {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..200_usize {
            let bytes: Vec<u8> = (0..round * 97)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    // Small numbers, too: devices that have an entry.
                    if state >> 60 < 8 {
                        0
                    } else {
                        (state >> 24) as u8
                    }
                })
                .collect();
            for age in [0, 1_000_000, u64::MAX] {
                read_counters(&bytes, age);
            }
        }
    }

    #[test]
    fn sums_rise_while_work_runs_and_stay_after_it() {
        let usage: &'static Usage =
            Box::leak(Box::new(Usage::below(Path::new("/nonexistent"), true)));
        let mut meter = usage.meter();
        let begin = now_ns();
        meter.begin(Kind::Compute, 0, begin);
        let first = usage.work().compute_ns;
        while now_ns() < begin + 2_000_000 {
            std::hint::spin_loop();
        }
        let second = usage.work().compute_ns;
        assert!(second > first && second >= 2_000_000, "{first} {second}");
        let end = now_ns();
        meter.end(end);
        meter.groups(5);
        meter.bytes(7);
        meter.kernel();
        drop(meter);
        let work = usage.work();
        assert_eq!(work.compute_ns, end - begin);
        assert_eq!(
            (work.kernels, work.groups, work.bytes, work.copy_ns),
            (1, 5, 7, 0)
        );
        // The next thread continues with the same slot.
        let mut meter = usage.meter();
        meter.begin(Kind::Compute, 0, end);
        meter.end(end + 10);
        assert_eq!(usage.work().compute_ns, end - begin + 10);
        assert_eq!(usage.times()[0], end - begin + 10);
    }

    #[test]
    fn engines_in_use_are_those_at_work_or_the_last() {
        let usage: &'static Usage =
            Box::leak(Box::new(Usage::below(Path::new("/nonexistent"), true)));
        usage.name_devices(&[[1; 16], [2; 16]]);
        let uses = |uuid: u8| {
            let found = usage.processes(&[uuid; 16]);
            (found[0].compute, found[0].copy)
        };
        assert_eq!(uses(1), (false, false));
        let (mut a, mut b) = (usage.meter(), usage.meter());
        a.begin(Kind::Copy, 0, 10);
        assert_eq!(uses(1), (false, true));
        b.begin(Kind::Compute, 0, 20);
        assert_eq!(uses(1), (true, true));
        assert_eq!(uses(2), (false, false));
        a.end(30);
        assert_eq!(uses(1), (true, false));
        b.end(40);
        assert_eq!(uses(1), (true, false), "the kernel began last");
    }
}
