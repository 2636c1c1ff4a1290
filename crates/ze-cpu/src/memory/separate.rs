//! Memory that leaves the process gets a file of its own.
//!
//! Allocations share stores, so a descriptor of a store would give away every neighbour. The first export therefore moves
//! the pages of the allocation into a new memory file, and that file's mapping replaces them at the same address. Threads
//! that write meanwhile are held until the move is over ([`WriteHold`]); threads that read never notice.
//!
//! Forked children keep the pages as they were: what they share with the parent ends at the first export. So do pages
//! that the system has pinned (registered buffers of io_uring or RDMA, direct I/O under way) and process-shared futexes.
//! A program that needs those allocates with an export descriptor: such an allocation never moves.
//!
//! Limits: a system call that writes to the pages during the move fails with EFAULT, because the system raises no signal
//! for it; a thread that has blocked SIGSEGV must not write to them then.

use super::map::PAGE;
use super::store::{Alias, Store};
use crate::fault::WriteHold;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use ze_driver::device::NoFile;

/// Pages of a shared store that show a file of their own.
#[derive(Debug)]
pub(super) struct Separated {
    file: Store,
    /// The pages of the store, for the time after the allocation. Valgrind refuses such a view: then they stay hidden until
    /// the store ends.
    pages: Option<Alias>,
}

impl Separated {
    /// Moves `room`, whole pages of one shared store, into a file; the bytes of `used` alone keep their contents.
    ///
    /// # Errors
    /// The reason why there is no file; then nothing has changed.
    pub(super) fn new(
        room: Range<usize>,
        used: Range<usize>,
        node: Option<u32>,
    ) -> Result<Self, NoFile> {
        let pages = Alias::of(room.start, room.len() as u64);
        let file = into_file(room, used, node)?;
        // Forked children still show the old pages.
        if let Some(pages) = pages.as_ref().filter(|_| !crate::engine::has_forked()) {
            pages.empty();
        }
        Ok(Self { file, pages })
    }

    /// A descriptor of the file.
    pub(super) fn descriptor(&self) -> Result<OwnedFd, NoFile> {
        descriptor(&self.file).map(|(file, _)| file)
    }

    /// Shows the store's own pages again; the file lives on in the processes that have it. `false` when the system
    /// refuses: then nobody may use the range any more.
    pub(super) fn end(self) -> bool {
        let base = self.file.base();
        // SAFETY: the range is the freed allocation's, which this value stands for.
        let shown = unsafe {
            match self.pages {
                Some(pages) => pages.move_back(base),
                None => Store::anonymous(self.file.len(), PAGE).is_some_and(|mut fresh| {
                    let shown = fresh.move_over(base);
                    if shown {
                        fresh.give_up_range();
                    }
                    shown
                }),
            }
        };
        if shown {
            self.file.empty(self.file.base(), self.file.len());
        }
        self.file.give_up_range();
        shown
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

/// Moves `room`, whole pages of anonymous shared memory, into a file that replaces them there. The bytes of `used` keep
/// their contents; the others, which may hold what an earlier allocation left, become zero.
///
/// # Errors
/// The reason why there is no file; then nothing has changed.
pub(super) fn into_file(
    room: Range<usize>,
    used: Range<usize>,
    node: Option<u32>,
) -> Result<Store, NoFile> {
    let no_room = NoFile {
        errno: libc::ENOMEM,
    };
    let len = room.len() as u64;
    let mut file = Store::in_file(len, PAGE)?;
    file.prefer(node);
    let hold = WriteHold::begin(room.start, len).ok_or(no_room)?;
    copy_pages(used, room.start, file.base());
    // SAFETY: the caller's range; its contents are in the file, and nobody has written to it since.
    let shown = unsafe { file.move_over(room.start) };
    drop(hold);
    if shown { Ok(file) } else { Err(no_room) }
}

/// Copies the bytes of `used` from the pages that begin at `from` to those at `to`. Pages of zeros are left out, so that
/// the file has no more memory than the allocation.
fn copy_pages(used: Range<usize>, from: usize, to: usize) {
    let mut at = used.start;
    while at < used.end {
        let end = used.end.min((at | (PAGE as usize - 1)) + 1);
        // SAFETY: the bytes lie in pages that are mapped, and writes to them are held; `to` is known to nobody else.
        unsafe {
            let source = std::slice::from_raw_parts(at as *const u8, end - at);
            if source.iter().any(|byte| *byte != 0) {
                std::ptr::copy_nonoverlapping(
                    source.as_ptr(),
                    (to + at - from) as *mut u8,
                    end - at,
                );
            }
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// Threads count in the pages while these move and come back, again and again.
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
            for round in 0..50 {
                std::thread::sleep(std::time::Duration::from_micros(300));
                let room = base..base + len as usize;
                let separated = Separated::new(room.clone(), room, None).unwrap();
                assert_eq!(separated.file.base(), base, "round {round}");
                // Back to zeros: count on from what the file has.
                let values: Vec<u64> = {
                    let hold = WriteHold::begin(base, len).unwrap();
                    let words = len as usize / 8;
                    // SAFETY: mapped; writes are held.
                    let values =
                        unsafe { std::slice::from_raw_parts(base as *const u64, words) }.to_vec();
                    let target = separated.pages_for_test();
                    // SAFETY: the alias has `len` bytes and is known to nobody else.
                    unsafe {
                        std::ptr::copy_nonoverlapping(values.as_ptr(), target as *mut u64, words);
                    }
                    assert!(separated.end_for_test());
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

    impl Separated {
        /// As [`Self::end`], with the contents of the pages.
        fn end_for_test(self) -> bool {
            // SAFETY: as in `end`.
            let shown = unsafe { self.pages.unwrap().move_back(self.file.base()) };
            self.file.give_up_range();
            shown
        }

        fn pages_for_test(&self) -> usize {
            self.pages.as_ref().unwrap().base()
        }
    }
}
