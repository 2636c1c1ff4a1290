//! Moves memory that is exported to a separate file.
//!
//! Allocations share stores, so a descriptor of a store would give away every neighbour. The first export therefore moves
//! the pages of the allocation into a new memory file, and that file's mapping replaces them at the same address. Threads
//! that write meanwhile are held until the move is over ([`hold_writes`]); threads that read never notice.
//!
//! Forked children keep the pages as they were: sharing with the parent ends at the first export. So do pages
//! that the system has pinned (registered buffers of io_uring or RDMA, direct I/O under way) and process-shared futexes.
//! A program that needs those allocates with an export descriptor: such an allocation never moves. Children that were made
//! without the C library's `fork` are not known of, and read zeros there after the export.
//!
//! Once the process has forked, all old pages stay until the move is over: a large allocation takes twice its memory then.
//!
//! Pages move in parts of a few MiB, and most of a part is copied before writers are held: a writer waits only while one
//! part is compared and copied where it differs.
//!
//! Limits: a system call that writes to the pages during the move fails with EFAULT, because the system raises no signal
//! for it; a thread that has blocked SIGSEGV must not write to them then.

use super::map::PAGE;
use super::store::Store;
use crate::fault::hold_writes;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use ze_driver::device::NoFile;

/// Pages of a shared store that map a separate file.
#[derive(Debug)]
pub(super) struct Separated {
    file: Store,
}

impl Separated {
    /// Moves `room`, whole pages of `store`, to a file; only the bytes of `used` keep their contents.
    ///
    /// # Errors
    /// Why there is no file; contents and address of the memory are then unchanged.
    pub(super) fn new(
        store: &Store,
        room: Range<usize>,
        used: Range<usize>,
        node: Option<u32>,
    ) -> Result<Self, NoFile> {
        let file = into_file(store, room, used, node)?;
        Ok(Self { file })
    }

    /// A descriptor of the file.
    pub(super) fn descriptor(&self) -> Result<OwnedFd, NoFile> {
        descriptor(&self.file).map(|(file, _)| file)
    }

    /// Maps the pages of `store`, which they come from, again, zeroed; the file lives on in other processes. `false` if
    /// the system fails: the range must not be used then.
    pub(super) fn end(self, store: &Store) -> bool {
        let (base, len) = (self.file.base(), self.file.len());
        self.file.give_up_range();
        let Some(offset) = base.checked_sub(store.base()) else {
            return false;
        };
        // SAFETY: the range is the freed allocation's, which this value stands for.
        unsafe {
            match store.pages() {
                Some(pages) => {
                    // Pages that forked children map, or that are locked, still have the contents from before the move.
                    pages.clear_part(offset as u64, len);
                    pages.show_part(offset as u64, len, base)
                }
                // The pages below stay hidden until the store ends.
                None => Store::anonymous(len, PAGE).is_some_and(|mut fresh| {
                    let shown = fresh.move_over(base);
                    if shown {
                        fresh.give_up_range();
                    }
                    shown
                }),
            }
        }
    }
}

/// A descriptor of a store's file, and the offset of the store there.
pub(super) fn descriptor(store: &Store) -> Result<(OwnedFd, u64), NoFile> {
    let (file, offset) = store.file().ok_or(NoFile {
        errno: libc::ENOMEM,
    })?;
    let copy = file.as_fd().try_clone_to_owned();
    let copy = copy.map_err(|error| NoFile {
        errno: error.raw_os_error().unwrap_or(libc::EMFILE),
    })?;
    Ok((copy, offset))
}

/// Bytes that move at once. Writers wait for one part, and the pages of a part are there twice while it moves. Comparing a
/// part takes 0.9 ms, copying all of it into new pages 3.5 ms (Xeon at 2.5 GHz, November 2026).
const PART: usize = 4 << 20;

/// Moves `room`, whole pages of an anonymous store, into a file that replaces them there. The bytes of `used` keep their
/// contents; the others, which may hold data of an earlier allocation, become zero. The store's pages go back to the
/// system, at the latest when it ends; those that forked children show stay.
///
/// # Errors
/// The reason why there is no file; then contents and address of the memory are unchanged.
pub(super) fn into_file(
    store: &Store,
    room: Range<usize>,
    used: Range<usize>,
    node: Option<u32>,
) -> Result<Store, NoFile> {
    debug_assert!(store.holds(room.start));
    let old = store.pages();
    let before = (room.start - store.base()) as u64;
    let no_room = NoFile {
        errno: libc::ENOMEM,
    };
    let len = room.len() as u64;
    let mut file = Store::in_file(len, PAGE)?;
    file.prefer(node);
    let mut first = room.start;
    while first < room.end {
        let end = room.end.min(first + PART);
        let part = used.start.max(first)..used.end.min(end);
        let offset = (first - room.start) as u64;
        let bytes = (end - first) as u64;
        let mut copy = PartCopy::new(part, room.start, file.base());
        // Pages that are written meanwhile differ later, and are copied once more.
        copy.update();
        let shown = hold_writes(first, bytes).is_some_and(|_hold| {
            copy.update();
            // SAFETY: a part of the caller's range; its contents are in the file, and no thread has written to it since.
            unsafe { file.move_part_over(offset, bytes, first) }
        });
        if !shown {
            // The parts moved so far stay in the file, which has their contents.
            file.give_up_front(offset);
            return Err(no_room);
        }
        // Forked children still show the old pages.
        if let Some(old) = old.filter(|_| !crate::forks::has_forked()) {
            old.empty_part(before + offset, bytes);
        }
        first = end;
    }
    file.moved_to(room.start);
    Ok(file)
}

/// A copy of a part's bytes in other pages.
struct PartCopy {
    used: Range<usize>,
    /// Where the pages of the whole range begin, and the copies of them.
    from: usize,
    to: usize,
    /// Pages that the copy has, a bit each. Even reading another one would give the file a page: those of zeros have none,
    /// so that the file takes no more memory than the allocation.
    present: [u64; PART / PAGE as usize / 64],
}

impl PartCopy {
    /// Of the bytes of `used`, at most [`PART`]; none so far.
    fn new(used: Range<usize>, from: usize, to: usize) -> Self {
        let present = [0; PART / PAGE as usize / 64];
        Self {
            used,
            from,
            to,
            present,
        }
    }

    /// Makes the copy equal to the bytes, page by page where they differ.
    fn update(&mut self) {
        let mut page = [0_u64; PAGE as usize / 8];
        let first = self.used.start & !(PAGE as usize - 1);
        let mut at = self.used.start;
        while at < self.used.end {
            let end = self.used.end.min((at | (PAGE as usize - 1)) + 1);
            let target = (self.to + at - self.from) as *mut u8;
            let number = (at - first) / PAGE as usize;
            let (word, bit) = (&mut self.present[number / 64], 1 << (number % 64));
            // SAFETY: the bytes lie in pages that are mapped; a page that other threads write to meanwhile is copied again
            // when writes are held. No other thread knows the target.
            unsafe {
                let bytes = page.as_mut_ptr().cast::<u8>();
                std::ptr::copy_nonoverlapping(at as *const u8, bytes, end - at);
                let wanted = std::slice::from_raw_parts(bytes, end - at);
                let differs = if *word & bit == 0 {
                    wanted.iter().any(|byte| *byte != 0)
                } else {
                    wanted != std::slice::from_raw_parts(target, end - at)
                };
                if differs {
                    std::ptr::copy_nonoverlapping(bytes, target, end - at);
                    *word |= bit;
                }
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// Threads count in the pages while these move there and back repeatedly.
    #[test]
    fn writers_lose_nothing_while_pages_move() {
        const PAGES: usize = 64;
        let len = PAGES as u64 * PAGE;
        let store = Store::anonymous(len, PAGE).unwrap();
        let base = store.base();
        // SAFETY: each counter lies in the store, and is only used as this atomic.
        let counter = |at: usize| unsafe { &*((base + at) as *const AtomicU64) };
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|thread| {
                    let (stop, counter) = (&stop, &counter);
                    scope.spawn(move || {
                        let mut done = 0u64;
                        while !stop.load(Ordering::Relaxed) {
                            let at = done as usize % PAGES * PAGE as usize + 8 * thread;
                            counter(at).fetch_add(1, Ordering::Relaxed);
                            done += 1;
                        }
                        done
                    })
                })
                .collect();
            // On a busy machine a writer may begin late.
            while (0..3).any(|thread| counter(8 * thread).load(Ordering::Relaxed) == 0) {
                std::thread::yield_now();
            }
            for round in 0..50 {
                std::thread::sleep(std::time::Duration::from_micros(300));
                let room = base..base + len as usize;
                let separated = Separated::new(&store, room.clone(), room, None).unwrap();
                assert_eq!(separated.file.base(), base, "round {round}");
                // Back to zeros: count on from what the file has.
                let values: Vec<u64> = {
                    let hold = hold_writes(base, len).unwrap();
                    let words = len as usize / 8;
                    // SAFETY: mapped; writes are held.
                    let values =
                        unsafe { std::slice::from_raw_parts(base as *const u64, words) }.to_vec();
                    let pages = store.pages().unwrap();
                    // SAFETY: the view has `len` bytes and no other thread knows it; the range is the store's.
                    unsafe {
                        let target = pages.at(0) as *mut u64;
                        std::ptr::copy_nonoverlapping(values.as_ptr(), target, words);
                        assert!(pages.show_part(0, len, base));
                    }
                    separated.file.give_up_range();
                    drop(hold);
                    values
                };
                assert!(values.iter().any(|value| *value > 0));
            }
            stop.store(true, Ordering::Relaxed);
            for (thread, writer) in writers.into_iter().enumerate() {
                let done = writer.join().unwrap();
                let found: u64 = (0..PAGES)
                    .map(|page| counter(page * PAGE as usize + 8 * thread).load(Ordering::Relaxed))
                    .sum();
                assert_eq!(found, done, "thread {thread}");
            }
        });
    }
}
