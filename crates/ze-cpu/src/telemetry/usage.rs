//! Who uses the devices how much: a page of counters for each process, which all processes may read.
//!
//! The page lies in a file of `/dev/shm`, named after the process, so that another process (`solum top`) sees what
//! this one does. Where no such file can be made it is private memory, and only this process sees itself.
//!
//! Layout, native byte order: 64 bytes of head (magic, version, pid, start time of the process), 64 entries of 32
//! bytes for devices (UUID, bytes of device memory, bytes of shared memory), [`SLOTS`] slots of 64 bytes, one for each
//! thread that runs work. A slot's first two words are times in kernels and in copies: below 2^63 a sum in ns; with
//! the top bit set the moment, less the sum so far, at which work that still runs began.
//!
//! Invariants
//! - A slot has one writer at a time; words are written whole, so that sums never go back.
//! - A file counts only if its owner is the owner of the process that it names, and the process began when it says.

use crate::census::lock;
use crate::engine::now_ns;
use crate::numbers::Numbers;
use std::collections::HashMap;
use std::ffi::CString;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use ze_driver::device::MemoryKind;
use ze_driver::telemetry::{ProcessUse, Work};

/// Threads that are counted at once; more share the last slot, uncounted by others.
const SLOTS: usize = 256;
/// Devices that have an entry.
const DEVICES: usize = 64;
const MAGIC: u64 = u64::from_le_bytes(*b"SOLUMUSE");
const VERSION: u32 = 1;
/// Marks a time under way.
const BUSY: u64 = 1 << 63;
/// Begin of the files' names.
const PREFIX: &str = "solum-use-";

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs a kernel.
    Compute,
    /// Copies or fills.
    Copy,
}

#[repr(C)]
struct Page {
    magic: AtomicU64,
    version_pid: AtomicU64,
    start: AtomicU64,
    reserved: [AtomicU64; 5],
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
    /// What it does, or did last: kind + 1, and the device's entry from bit 8 on.
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
    /// Slots that somebody has; the last is for whoever finds none.
    given: Numbers<{ SLOTS / 64 }>,
    folder: PathBuf,
    seen: Mutex<Seen>,
}

/// What was read of other processes: sums of those that have ended are kept.
#[derive(Default)]
struct Seen {
    alive: HashMap<(u32, u64), [u64; 2]>,
    ended: [u64; 2],
}

/// File of this process, to be removed at its end, and the process that made it.
static OWN: OnceLock<(CString, AtomicI32)> = OnceLock::new();

extern "C" fn remove_own() {
    if let Some((path, pid)) = OWN.get() {
        // SAFETY: system calls; the text is static. A forked child leaves its parent's file alone.
        unsafe {
            if libc::getpid() == pid.load(Ordering::Relaxed) {
                libc::unlink(path.as_ptr());
            }
        }
    }
}

impl Usage {
    /// The process's own, made when first asked for, with a file in `/dev/shm` unless the process has more rights
    /// than its user.
    pub(crate) fn own() -> &'static Self {
        static ONE: OnceLock<Usage> = OnceLock::new();
        ONE.get_or_init(|| {
            // SAFETY: reads a word that the kernel gave the process.
            let privileged = unsafe { libc::getauxval(libc::AT_SECURE) != 0 };
            let folder = Path::new("/dev/shm");
            let made = Self::below(folder, !privileged);
            let path = file_of(folder, std::process::id());
            if let Ok(path) = CString::new(path.as_os_str().as_bytes())
                && OWN
                    .set((path, AtomicI32::new(std::process::id() as i32)))
                    .is_ok()
            {
                // SAFETY: the handler is a static function of this library, which is never unloaded.
                unsafe { libc::atexit(remove_own) };
            }
            made
        })
    }

    /// Counters with a file in `folder`, if that is wanted and possible.
    pub(crate) fn below(folder: &Path, publish: bool) -> Self {
        let file = publish.then(|| map_file(&file_of(folder, std::process::id())));
        let base = file.flatten().unwrap_or_else(private);
        // SAFETY: mapped for the process's life, large enough, zeroed or written by this very process; all words are
        // atomic.
        let page = unsafe { &*base.cast::<Page>() };
        let pid = std::process::id();
        page.start
            .store(start_of(pid).unwrap_or(0), Ordering::Relaxed);
        page.version_pid
            .store(u64::from(VERSION) << 32 | u64::from(pid), Ordering::Relaxed);
        page.magic.store(MAGIC, Ordering::Release);
        Self {
            page,
            given: Numbers::new(),
            folder: folder.to_owned(),
            seen: Mutex::default(),
        }
    }

    /// Names the devices, roots in their order.
    pub(crate) fn name_devices(&self, uuids: &[[u8; 16]]) {
        for (entry, uuid) in self.page.devices.iter().zip(uuids) {
            for (word, half) in entry.uuid.iter().zip(halves(uuid)) {
                word.store(half, Ordering::Relaxed);
            }
        }
    }

    /// Counts memory that was allocated (`bytes` positive) or freed. Memory of no device is nobody's.
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

    /// What this process's threads have done.
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
        for (key, words) in self.pages() {
            let mut sums = [0_u64; 2];
            for slot in words[SLOTS_AT..].chunks_exact(8) {
                sums[0] = sums[0].saturating_add(time_of(slot[0], now));
                sums[1] = sums[1].saturating_add(time_of(slot[1], now));
            }
            if let Some(before) = seen.alive.get(&key) {
                sums = [sums[0].max(before[0]), sums[1].max(before[1])];
            }
            alive.insert(key, sums);
        }
        let before = std::mem::replace(&mut seen.alive, alive);
        for (key, sums) in before {
            if !seen.alive.contains_key(&key) {
                seen.ended = [seen.ended[0] + sums[0], seen.ended[1] + sums[1]];
            }
        }
        seen.alive.values().fold(seen.ended, |all, sums| {
            [
                all[0].saturating_add(sums[0]),
                all[1].saturating_add(sums[1]),
            ]
        })
    }

    /// Processes that have the device of that UUID.
    pub(crate) fn processes(&self, uuid: &[u8; 16]) -> Vec<ProcessUse> {
        let wanted = halves(uuid);
        let mut found = Vec::new();
        for ((pid, _), words) in self.pages() {
            let mut entries = words[ENTRIES_AT..SLOTS_AT].chunks_exact(4);
            let Some(at) = entries.position(|entry| entry[..2] == wanted) else {
                continue;
            };
            let entry = &words[ENTRIES_AT + at * 4..][..4];
            let slots = || {
                words[SLOTS_AT..]
                    .chunks_exact(8)
                    .filter(|slot| slot[2] != 0 && (slot[2] >> 8) as usize == at)
            };
            let busy = |slot: &[u64]| (slot[0] | slot[1]) & BUSY != 0;
            // Those at work now; while none is, whoever was last.
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
            found.push(ProcessUse {
                pid,
                device_bytes: entry[2],
                shared_bytes: entry[3],
                compute: kinds[0],
                copy: kinds[1],
            });
        }
        found.sort_by_key(|process| process.pid);
        found
    }

    /// The words of this and all other processes' pages, by pid and start.
    fn pages(&self) -> Vec<((u32, u64), Vec<u64>)> {
        let own = std::process::id();
        let mut pages = vec![(
            (own, self.page.start.load(Ordering::Relaxed)),
            own_words(self.page),
        )];
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries {
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok());
            let Some(pid) = pid.filter(|pid| *pid != own) else {
                continue;
            };
            match read_page(&entry.path(), pid) {
                Ok((start, words)) => pages.push(((pid, start), words)),
                // A process that was killed leaves its file; removing another user's is refused, which is as well.
                Err(Stale::Dead) => drop(fs::remove_file(entry.path())),
                Err(Stale::Foreign) => {}
            }
        }
        pages
    }
}

/// First word of the devices' entries and of the slots.
const ENTRIES_AT: usize = 8;
const SLOTS_AT: usize = 8 + 4 * DEVICES;
const WORDS: usize = size_of::<Page>() / 8;

enum Stale {
    /// The process is no more.
    Dead,
    /// Not what it says.
    Foreign,
}

fn own_words(page: &Page) -> Vec<u64> {
    let base = std::ptr::from_ref(page).cast::<AtomicU64>();
    // SAFETY: the page is a row of `WORDS` atomic words.
    let words = unsafe { std::slice::from_raw_parts(base, WORDS) };
    words
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect()
}

/// Another process's page.
fn read_page(path: &Path, pid: u32) -> Result<(u64, Vec<u64>), Stale> {
    let Some(alive) = start_of(pid) else {
        return Err(Stale::Dead);
    };
    let read = || -> std::io::Result<(u32, Vec<u8>)> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut file = fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(path)?;
        let mut bytes = vec![0; WORDS * 8];
        file.read_exact(&mut bytes)?;
        Ok((file.metadata()?.uid(), bytes))
    };
    let (owner, bytes) = read().map_err(|_| Stale::Foreign)?;
    let words: Vec<u64> = bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|word| u64::from_ne_bytes(*word))
        .collect();
    let user = fs::metadata(format!("/proc/{pid}")).map_err(|_| Stale::Dead)?;
    if owner != user.uid()
        || words[0] != MAGIC
        || words[1] != u64::from(VERSION) << 32 | u64::from(pid)
    {
        return Err(Stale::Foreign);
    }
    // The number was used again since.
    if words[2] != alive {
        return Err(Stale::Dead);
    }
    Ok((alive, words))
}

fn file_of(folder: &Path, pid: u32) -> PathBuf {
    folder.join(format!("{PREFIX}{pid}"))
}

/// When a process began, in ticks since the system did.
fn start_of(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything; field 22 is the 20th after it.
    text.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()
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

/// Private memory for a page; ends the process only when not even that is there.
fn private() -> *mut libc::c_void {
    Box::into_raw(vec![0_u64; WORDS].into_boxed_slice()).cast()
}

/// A file for a page, with all its memory reserved: a full `/dev/shm` must not end the process later.
fn map_file(path: &Path) -> Option<*mut libc::c_void> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    // One of this number is a dead process's, or not to be touched.
    let _ = fs::remove_file(path);
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o644)
        .custom_flags(libc::O_CLOEXEC | libc::O_NOFOLLOW)
        .open(path)
        .ok()?;
    let bytes = size_of::<Page>();
    // SAFETY: a fresh file of ours; the mapping is kept for the process's life.
    let base = unsafe {
        if libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) != 0 {
            libc::MAP_FAILED
        } else {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        }
    };
    if base == libc::MAP_FAILED {
        let _ = fs::remove_file(path);
        return None;
    }
    Some(base)
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
    /// Work of that kind begins on the device of that index.
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
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("solum-usage-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
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
        // The next thread goes on with the same slot.
        let mut meter = usage.meter();
        meter.begin(Kind::Compute, 0, end);
        meter.end(end + 10);
        assert_eq!(usage.work().compute_ns, end - begin + 10);
        assert_eq!(usage.times()[0], end - begin + 10);
    }

    #[test]
    fn another_process_reads_what_this_one_does_and_believes_no_other_file() {
        let folder = folder("files");
        let usage: &'static Usage = Box::leak(Box::new(Usage::below(&folder, true)));
        usage.name_devices(&[[1; 16], [2; 16]]);
        usage.memory(Some(1), MemoryKind::Device, 4096);
        usage.memory(Some(1), MemoryKind::Shared, 100);
        usage.memory(Some(1), MemoryKind::Shared, -60);
        let pid = std::process::id();
        let (start, words) = read_page(&file_of(&folder, pid), pid).ok().unwrap();
        assert_eq!(Some(start), start_of(pid));
        assert_eq!(words[ENTRIES_AT + 4 + 2..][..2], [4096, 40]);
        // What is not a page of a living process of its owner.
        let bytes = fs::read(file_of(&folder, pid)).unwrap();
        fs::write(folder.join("solum-use-1"), &bytes).unwrap();
        fs::write(folder.join("solum-use-x"), &bytes).unwrap();
        fs::write(folder.join("solum-use-4294967295"), &bytes).unwrap();
        let seen = usage.processes(&[2; 16]);
        let own = ProcessUse {
            pid,
            device_bytes: 4096,
            shared_bytes: 40,
            compute: false,
            copy: false,
        };
        assert_eq!(seen, [own]);
        assert!(
            !file_of(&folder, u32::MAX).exists(),
            "a dead process's file is removed"
        );
        assert_eq!(usage.processes(&[3; 16]), []);
        fs::remove_dir_all(&folder).unwrap();
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
