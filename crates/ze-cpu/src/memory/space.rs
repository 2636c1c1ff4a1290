//! Reservations, physical memory, and allocations over files of other processes.

use super::map::PAGE;
use super::store::{Store, memory_file};
use super::{ADOPTED, IMPORTED, Memory, OPENED, arena_of, mine, room_of, unpack};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use ze_driver::address_space::{Access, AddressSpace, Pages};
use ze_driver::device::{AllocError, AllocRequest, ExportError};

struct PhysicalPages {
    file: File,
    size: u64,
    used: Arc<AtomicU64>,
}

impl Pages for PhysicalPages {
    fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
    fn size(&self) -> u64 {
        self.size
    }
}

impl Drop for PhysicalPages {
    fn drop(&mut self) {
        self.used.fetch_sub(self.size, Ordering::Relaxed);
    }
}

fn protection(access: Access) -> i32 {
    match access {
        Access::None => libc::PROT_NONE,
        Access::ReadOnly => libc::PROT_READ,
        Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
    }
}

/// Inaccessible address space: exactly at `at` or not at all, if `exact` is the flag for it.
fn inaccessible(at: usize, size: u64, exact: i32) -> Option<usize> {
    let size = usize::try_from(size).ok()?;
    // SAFETY: without MAP_FIXED nothing is mapped over; with it the caller owns the range.
    let base = unsafe {
        libc::mmap(
            at as *mut libc::c_void,
            size,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | exact,
            -1,
            0,
        )
    };
    (base != libc::MAP_FAILED).then_some(base as usize)
}

impl AddressSpace for Memory {
    fn page_size(&self) -> u64 {
        PAGE
    }

    fn trusts_all_users(&self) -> bool {
        self.any_user
    }

    fn opens_descriptors(&self) -> bool {
        self.is_rank()
    }

    fn reserve(&self, hint: usize, size: u64) -> Option<usize> {
        // If the hint is taken, the system chooses another address.
        let base = inaccessible(hint, size, 0);
        if let Some(base) = base {
            crate::check::reserved(base, size);
        }
        base
    }

    fn release(&self, base: usize, size: u64) {
        // SAFETY: the caller owns the reservation and has ended its use.
        unsafe { libc::munmap(base as *mut libc::c_void, size as usize) };
    }

    fn pages(&self, size: u64) -> Result<Arc<dyn Pages>, AllocError> {
        if size > self.limit {
            return Err(AllocError::TooLarge);
        }
        if !self.reserve_bytes(size) {
            return Err(AllocError::OutOfMemory);
        }
        let file = memory_file(size).map_err(|refused| {
            self.used.fetch_sub(size, Ordering::Relaxed);
            AllocError::NoFile(refused)
        })?;
        Ok(Arc::new(PhysicalPages {
            file,
            size,
            used: Arc::clone(&self.used),
        }))
    }

    fn map(&self, at: usize, size: u64, file: BorrowedFd<'_>, offset: u64, access: Access) -> bool {
        let Ok(offset) = libc::off_t::try_from(offset) else {
            return false;
        };
        // SAFETY: the caller owns the reservation around `at`; the previous mapping is no longer used.
        let mapped = unsafe {
            libc::mmap(
                at as *mut libc::c_void,
                size as usize,
                protection(access),
                libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                offset,
            )
        };
        mapped != libc::MAP_FAILED
    }

    fn unmap(&self, at: usize, size: u64) -> bool {
        inaccessible(at, size, libc::MAP_FIXED).is_some()
    }

    fn protect(&self, at: usize, size: u64, access: Access) -> bool {
        // SAFETY: the caller owns the reservation; kernels that break the new rule lose their context.
        let done =
            unsafe { libc::mprotect(at as *mut libc::c_void, size as usize, protection(access)) };
        done == 0
    }

    fn allocate_in_file(&self, request: &AllocRequest) -> Result<*mut u8, AllocError> {
        self.allocate_from(request, true)
    }

    fn export(&self, base: usize) -> Result<(OwnedFd, u64), ExportError> {
        let found = || self.map.find(base).filter(|entry| entry.base == base);
        let index = arena_of(found().ok_or(ExportError::NotOurs)?.tag);
        // Under the arena's lock the pages stay the allocation's, also while another thread frees it.
        let mut arena = self.lock(index);
        let ours = |tag: u64| arena_of(tag) == index && tag & ADOPTED == 0;
        let entry = found().filter(|entry| ours(entry.tag));
        let entry = entry.ok_or(ExportError::NotOurs)?;
        let inner = base as u64 % PAGE;
        let len = room_of(inner, entry.size).ok_or(ExportError::NotOurs)?;
        let (kind, device) = unpack(entry.tag);
        let node = self.node_of(kind, device);
        let first = base - inner as usize;
        let used = base..base + entry.size as usize;
        crate::fault::page_watch::leave_open(base);
        let (file, page) = arena.export(first..first + len as usize, used, node)?;
        Ok((file, page + inner))
    }

    fn import(
        &self,
        request: &AllocRequest,
        file: OwnedFd,
        offset: u64,
        opened: bool,
    ) -> Result<*mut u8, AllocError> {
        // Files are mapped in pages; the allocation begins at the same page offset as at its origin.
        let inner = offset % PAGE;
        let len = room_of(inner, request.size).ok_or(AllocError::TooLarge)?;
        let align = request.align.max(PAGE);
        let store = Store::view(File::from(file), offset - inner, len, align)
            .ok_or(AllocError::OutOfMemory)?;
        let bits = IMPORTED | if opened { OPENED } else { 0 };
        let index = mine();
        let mut arena = self.lock(index);
        let page = arena.keep(store);
        let base = page + inner as usize;
        if !self.enter(index, &mut arena, request, base, bits) {
            arena.give_back(page, len, None, &self.kept);
            return Err(AllocError::OutOfMemory);
        }
        Ok(base as *mut u8)
    }

    fn adopt(&self, request: &AllocRequest, base: *mut u8) -> bool {
        let index = mine();
        self.enter(
            index,
            &mut self.lock(index),
            request,
            base as usize,
            ADOPTED,
        )
    }

    fn populate(&self, base: usize, size: u64) {
        let Some(end) = usize::try_from(size)
            .ok()
            .and_then(|size| base.checked_add(size))
        else {
            return;
        };
        // Of the program's own memory only present pages: writing would create copies of shared pages.
        match self.map.find(base) {
            Some(entry) => populate(base, end.min(entry.base + entry.size as usize), true),
            None => populate(base, end, false),
        }
    }
}

/// Makes pages of `base..end` present, and writable if `writable`.
fn populate(base: usize, end: usize, writable: bool) {
    let first = base & !(PAGE as usize - 1);
    let Some(len) = end.checked_sub(first).filter(|len| *len > 0) else {
        return;
    };
    let advice = if writable {
        libc::MADV_POPULATE_WRITE
    } else {
        libc::MADV_POPULATE_READ
    };
    // SAFETY: changes no contents; an error (an unmapped range, or unknown advice) can be ignored, because pages come
    // when they are touched.
    unsafe { libc::madvise(first as *mut libc::c_void, len, advice) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use ze_driver::device::MemoryKind;

    fn request(size: u64) -> AllocRequest {
        AllocRequest {
            kind: MemoryKind::Device,
            size,
            align: 1,
            device: Some(0),
            context: 1,
        }
    }

    #[test]
    fn two_views_of_one_physical_memory_alias() {
        let memory = Memory::new(1 << 20);
        let pages = memory.pages(8 * PAGE).unwrap();
        let base = memory.reserve(0, 16 * PAGE).unwrap();
        let views = [base, base + 8 * PAGE as usize];
        for view in views {
            assert!(memory.map(view, 8 * PAGE, pages.file(), 0, Access::ReadWrite));
        }
        // SAFETY: both views are mapped for reading and writing.
        unsafe {
            (views[0] as *mut u32).write(7);
            assert_eq!((views[1] as *const u32).read(), 7);
        }
        assert!(memory.unmap(views[0], 8 * PAGE));
        assert!(memory.protect(views[1], 8 * PAGE, Access::ReadOnly));
        // SAFETY: mapped for reading.
        unsafe { assert_eq!((views[1] as *const u32).read(), 7) };
        memory.release(base, 16 * PAGE);
        assert!(
            memory.pages(1 << 20).is_err(),
            "physical memory counts against the limit"
        );
        drop(pages);
        assert!(memory.pages(1 << 20).is_ok());
    }

    #[test]
    fn imports_of_one_allocation_are_distinct_and_see_it_alone() {
        imported(8);
        // It does not begin at a page start.
        imported(100_000);
    }

    fn imported(size: u64) {
        let memory = Memory::new(1 << 30);
        let [before, mine, after] = [(); 3].map(|()| memory.allocate(&request(size)).unwrap());
        // SAFETY: each has a page.
        unsafe {
            before.write(1);
            mine.write(2);
            after.write(3);
        }
        let mut opened = Vec::new();
        for _ in 0..10 {
            let (file, offset) = memory.export(mine as usize).unwrap();
            let view = memory.import(&request(size), file, offset, true).unwrap();
            // SAFETY: an import of 8 bytes at least.
            unsafe { assert_eq!(view.read(), 2) };
            assert!(memory.find(view).unwrap().imported);
            assert!(view != mine && !opened.contains(&view));
            opened.push(view);
        }
        for view in opened {
            assert!(memory.free(view) && memory.find(view).is_none());
        }
        assert!(memory.export(mine.wrapping_add(1) as usize).is_err());
    }

    /// Each byte of the opened memory is the same byte of the exported one, at the same page offset.
    #[test]
    fn opened_memory_is_the_same_bytes_at_any_page_offset() {
        let memory = Memory::new(1 << 34);
        for size in [1, 32 << 10, (32 << 10) + 1, 100_000, (33 << 20) + 7] {
            // Once around all page offsets.
            for _ in 0..33 {
                let base = memory.allocate(&request(size)).unwrap();
                let (file, offset) = memory.export(base as usize).unwrap();
                let view = memory.import(&request(size), file, offset, true).unwrap();
                assert_eq!(memory.range(view), Some((view, size)));
                assert_eq!(base as u64 % PAGE, view as u64 % PAGE);
                for at in [0, size / 2, size - 1] {
                    // SAFETY: both have `size` bytes.
                    unsafe {
                        base.add(at as usize).write((at as u8).wrapping_add(1));
                        assert_eq!(view.add(at as usize).read(), (at as u8).wrapping_add(1));
                    }
                }
                // Opened memory can be exported again.
                let (file, again) = memory.export(view as usize).unwrap();
                assert_eq!(again, offset);
                drop(file);
                assert!(memory.free(view) && memory.free(base));
            }
        }
    }

    /// The whole of a file that was exported, as a hostile peer would map it.
    fn whole(file: &File) -> Store {
        let len = file.metadata().unwrap().len();
        Store::view(file.try_clone().unwrap(), 0, len, PAGE).unwrap()
    }

    #[test]
    fn the_file_of_an_export_contains_nothing_else() {
        let memory = Memory::new(1 << 34);
        for size in [1_u64, 5000, 100_000, (3 << 20) + 1, (33 << 20) + 7] {
            // Freed pages with contents, of which an export must show none.
            let dirty = memory
                .allocate(&request(size.next_multiple_of(PAGE)))
                .unwrap();
            // SAFETY: the allocation has so many bytes.
            unsafe { dirty.write_bytes(0xee, size.next_multiple_of(PAGE) as usize) };
            assert!(memory.free(dirty));
            let all = [(); 3].map(|()| memory.allocate(&request(size)).unwrap());
            for (mark, base) in all.iter().enumerate() {
                // SAFETY: each allocation has `size` bytes.
                unsafe { base.write_bytes(mark as u8 + 1, size as usize) };
            }
            // The pages freed last come first.
            for base in [all[0], all[2]] {
                let (file, _) = memory.export(base as usize).unwrap();
                let view = whole(&File::from(file));
                let len = view.len() as usize;
                // SAFETY: the view has so many bytes.
                let bytes = unsafe { std::slice::from_raw_parts(view.base() as *const u8, len) };
                assert!(bytes.iter().all(|byte| *byte != 0xee), "{size}");
            }
            let (file, offset) = memory.export(all[1] as usize).unwrap();
            let file = File::from(file);
            assert_eq!(offset, all[1] as u64 % PAGE);
            let room = room_of(offset, size).unwrap();
            assert_eq!(file.metadata().unwrap().len(), room);
            let view = whole(&file);
            // SAFETY: the view has `room` bytes.
            let bytes =
                unsafe { std::slice::from_raw_parts(view.base() as *const u8, room as usize) };
            let (before, rest) = bytes.split_at(offset as usize);
            let (own, after) = rest.split_at(size as usize);
            assert!(own.iter().all(|byte| *byte == 2), "{size}");
            let outside = before.iter().chain(after);
            assert!(outside.into_iter().all(|byte| *byte == 0), "{size}");
            // One memory, at the address that it had.
            // SAFETY: both have `size` bytes.
            unsafe {
                all[1].add(size as usize - 1).write(9);
                assert_eq!(
                    ((view.base() + offset as usize) as *const u8)
                        .add(size as usize - 1)
                        .read(),
                    9
                );
            }
            // Pages that are freed and reused no longer belong to the peer.
            assert!(memory.free(all[1]));
            let again = memory.allocate(&request(size)).unwrap();
            // SAFETY: as above.
            unsafe {
                again.write_bytes(0x77, size as usize);
                assert!(bytes.iter().all(|byte| *byte != 0x77), "{size}");
                assert_eq!((all[0].read(), all[2].read()), (1, 3));
            }
            for base in [all[0], all[2], again] {
                assert!(memory.free(base));
            }
        }
    }

    #[test]
    fn exported_pages_go_back_to_their_store() {
        let memory = Memory::new(1 << 30);
        let size = 1 << 20;
        let mut seen = std::collections::BTreeSet::new();
        for round in 0..600_u64 {
            let base = memory.allocate(&request(size)).unwrap();
            // SAFETY: the allocation has `size` bytes.
            unsafe { base.cast::<u64>().write(round) };
            assert!(memory.export(base as usize).is_ok());
            // SAFETY: as above.
            unsafe { assert_eq!(base.cast::<u64>().read(), round) };
            assert!(memory.free(base));
            seen.insert(base as u64 / PAGE);
        }
        // A store has room for 255 of them: without reuse there would be 600.
        assert!(seen.len() < 255, "{}", seen.len());
    }

    /// A thread counts in an allocation while that is exported for the first time.
    #[test]
    fn a_counter_loses_nothing_while_its_memory_is_exported() {
        let memory = Memory::new(1 << 34);
        for round in 0..40_u64 {
            let size = 4 << 20;
            let base = memory.allocate(&request(size)).unwrap();
            let at = base as usize + (round as usize * 65_536) % size as usize;
            // SAFETY: eight bytes of the allocation, used as this atomic alone.
            let counter = unsafe { &*(at as *const AtomicU64) };
            counter.store(0, Ordering::Relaxed);
            let stop = std::sync::atomic::AtomicBool::new(false);
            let done = std::thread::scope(|scope| {
                let counting = scope.spawn(|| {
                    let mut done = 0_u64;
                    while !stop.load(Ordering::Relaxed) {
                        counter.fetch_add(1, Ordering::Relaxed);
                        done += 1;
                    }
                    done
                });
                while counter.load(Ordering::Relaxed) == 0 {
                    std::hint::spin_loop();
                }
                assert!(memory.export(base as usize).is_ok());
                stop.store(true, Ordering::Relaxed);
                counting.join().unwrap()
            });
            assert_eq!(counter.load(Ordering::Relaxed), done, "round {round}");
            assert!(memory.free(base));
        }
    }

    /// The word that the handler below increments.
    static COUNTED: AtomicU64 = AtomicU64::new(0);

    extern "C" fn count(_: i32) {
        let at = COUNTED.load(Ordering::Relaxed);
        if at != 0 {
            // SAFETY: eight bytes of a live allocation, used as this atomic alone.
            unsafe { (*(at as *const AtomicU64)).fetch_add(1, Ordering::Relaxed) };
        }
    }

    #[test]
    fn a_signal_handler_on_the_exporting_thread_writes_after_the_move() {
        let memory = Memory::new(1 << 34);
        let size = 16 << 20;
        // SAFETY: a handler with the signature that the flags require; nothing else uses the signal.
        let this = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = count as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut());
            libc::pthread_self() as usize
        };
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // SAFETY: the thread lives as long as the scope.
                    unsafe { libc::pthread_kill(this as libc::pthread_t, libc::SIGURG) };
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
            });
            for _ in 0..20 {
                let base = memory.allocate(&request(size)).unwrap();
                // SAFETY: the allocation has `size` bytes.
                unsafe { base.write_bytes(0, size as usize) };
                COUNTED.store(base as u64, Ordering::Relaxed);
                assert!(memory.export(base as usize).is_ok());
                COUNTED.store(0, Ordering::Relaxed);
                assert!(memory.free(base));
            }
            stop.store(true, Ordering::Relaxed);
        });
    }

    /// A thread writes to memory that moves, and so does a signal handler that interrupts it.
    #[test]
    fn a_signal_handler_on_a_writing_thread_waits_for_the_move() {
        static AT: AtomicU64 = AtomicU64::new(0);
        static HANDLED: AtomicU64 = AtomicU64::new(0);
        extern "C" fn write(_: i32) {
            let at = AT.load(Ordering::Acquire);
            if at != 0 {
                // SAFETY: eight bytes of a live allocation, used as this atomic alone.
                unsafe { (*((at + 64) as *const AtomicU64)).fetch_add(1, Ordering::Relaxed) };
            }
            HANDLED.fetch_add(1, Ordering::Release);
        }
        let memory = Memory::new(1 << 34);
        let size = 16 << 20;
        // SAFETY: a handler with the signature that the flags require; nothing else uses the signal.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = write as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
        let stop = std::sync::atomic::AtomicBool::new(false);
        let writer = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: asks for the thread's own number.
                writer.store(unsafe { libc::pthread_self() }, Ordering::Release);
                while !stop.load(Ordering::Relaxed) {
                    let at = AT.load(Ordering::Acquire);
                    if at != 0 {
                        // SAFETY: as in the handler.
                        unsafe { (*(at as *const AtomicU64)).fetch_add(1, Ordering::Relaxed) };
                    }
                }
            });
            let thread = loop {
                match writer.load(Ordering::Acquire) {
                    0 => std::thread::yield_now(),
                    thread => break thread,
                }
            };
            for _ in 0..20 {
                let base = memory.allocate(&request(size)).unwrap();
                // SAFETY: the allocation has `size` bytes.
                unsafe { base.write_bytes(1, size as usize) };
                let at = base as usize;
                AT.store((at as u64 + 7) & !7, Ordering::Release);
                let moved = std::sync::atomic::AtomicBool::new(false);
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        assert!(memory.export(at).is_ok());
                        moved.store(true, Ordering::Release);
                    });
                    while !moved.load(Ordering::Acquire) {
                        // SAFETY: the writer lives as long as the outer scope.
                        unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                        std::thread::sleep(std::time::Duration::from_micros(100));
                    }
                });
                AT.store(0, Ordering::Release);
                // The writer has left the memory when it has handled one more signal.
                let before = HANDLED.load(Ordering::Acquire);
                while HANDLED.load(Ordering::Acquire) == before {
                    // SAFETY: as above.
                    unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
                assert!(memory.free(base));
            }
            stop.store(true, Ordering::Relaxed);
        });
    }

    /// Moves memory in five rounds. Children of the system call itself, which runs no fork handlers, are created
    /// meanwhile; each runs `work` with the memory and exits successfully.
    fn while_pages_move(work: fn(*mut u8)) {
        let memory = Memory::new(1 << 34);
        let size = 16 << 20;
        let mut children = Vec::new();
        for _ in 0..5 {
            let base = memory.allocate(&request(size)).unwrap();
            // SAFETY: the allocation has `size` bytes. The children only do their work and end.
            unsafe {
                base.write_bytes(1, size as usize);
                let at = base as usize;
                std::thread::scope(|scope| {
                    let moving = scope.spawn(|| memory.export(at).is_ok());
                    while !moving.is_finished() {
                        let child = libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0);
                        if child == 0 {
                            // Ends a child whose work never returns.
                            libc::syscall(libc::SYS_alarm, 60);
                            work(base);
                            libc::syscall(libc::SYS_exit_group, 0);
                        }
                        children.push(child as libc::pid_t);
                    }
                    assert!(moving.join().unwrap());
                });
            }
            assert!(memory.free(base));
        }
        for child in children {
            let mut status = 0;
            // SAFETY: a child of this process; the call fills the word.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0);
        }
    }

    fn write_into(base: *mut u8) {
        // SAFETY: an allocation of more bytes.
        unsafe { base.add(5000).write_volatile(1) };
    }

    #[test]
    fn children_of_a_bare_system_call_can_write() {
        while_pages_move(write_into);
    }

    /// They have the lock of moves as their parent's thread had it.
    #[test]
    fn children_of_a_bare_system_call_can_fork() {
        while_pages_move(|base| {
            crate::fault::enter_and_leave_a_hold();
            write_into(base);
        });
    }

    /// The system keeps locked pages when it is told to drop them.
    #[test]
    fn locked_memory_is_zero_when_it_comes_again() {
        let memory = Memory::new(1 << 34);
        let shared = |size| AllocRequest {
            kind: MemoryKind::Shared,
            ..request(size)
        };
        // More than is kept filled, so that some goes back to the system; a page of each is locked.
        let size = 4 << 20;
        let all: Vec<_> = (0..24)
            .map(|_| memory.allocate(&shared(size)).unwrap())
            .collect();
        for (at, base) in all.iter().enumerate() {
            // SAFETY: the allocation has `size` bytes.
            unsafe {
                base.write_bytes(0xee, size as usize);
                assert_eq!(libc::mlock(base.cast(), 1), 0);
            }
            if at % 2 == 1 {
                assert!(memory.export(*base as usize).is_ok());
            }
        }
        for base in all {
            assert!(memory.free(base));
        }
        let again: Vec<_> = (0..24)
            .map(|_| memory.allocate(&shared(size)).unwrap())
            .collect();
        for base in &again {
            // SAFETY: the allocation has `size` bytes.
            let bytes = unsafe { std::slice::from_raw_parts(*base, size as usize) };
            assert!(bytes.iter().all(|byte| *byte == 0));
        }
        for base in again {
            assert!(memory.free(base));
        }
    }

    #[test]
    fn an_export_takes_no_memory_for_pages_of_zeros() {
        let memory = Memory::new(1 << 34);
        for size in [20_u64 << 20, 50 << 20] {
            let base = memory.allocate(&request(size)).unwrap();
            // SAFETY: the allocation has `size` bytes.
            unsafe {
                base.add(5 << 20).write(1);
                base.add(size as usize - 1).write(2);
                // Read, not written.
                assert_eq!(base.add(9 << 20).read_volatile(), 0);
            }
            let (file, offset) = memory.export(base as usize).unwrap();
            let blocks =
                std::os::unix::fs::MetadataExt::blocks(&File::from(file).metadata().unwrap());
            assert_eq!(blocks * 512, 2 * PAGE, "{size}");
            // SAFETY: as above.
            unsafe {
                assert_eq!(
                    (base.add(5 << 20).read(), base.add(size as usize - 1).read()),
                    (1, 2)
                );
            }
            assert!(offset < PAGE && memory.free(base));
        }
    }

    #[test]
    fn forked_children_keep_the_memory_that_they_share() {
        // Starts to watch for forks.
        crate::engine::Engine::new(1, true);
        let memory = Memory::new(1 << 34);
        let size = 1 << 20;
        let base = memory.allocate(&request(size)).unwrap();
        let mut pipe = [0; 2];
        // SAFETY: the allocation has `size` bytes; the child only reads, writes and ends.
        unsafe {
            base.write_bytes(9, size as usize);
            assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
            let child = libc::fork();
            if child == 0 {
                let mut byte = 0_u8;
                libc::read(pipe[0], (&raw mut byte).cast(), 1);
                base.write_volatile(7);
                libc::_exit(base.add(5000).read_volatile().into());
            }
            assert!(memory.export(base as usize).is_ok());
            assert_eq!(libc::write(pipe[1], [1_u8].as_ptr().cast(), 1), 1);
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(libc::WEXITSTATUS(status), 9);
            for end in pipe {
                libc::close(end);
            }
        }
        assert!(memory.free(base));
    }

    #[test]
    fn children_forked_during_a_move_can_write() {
        let memory = Memory::new(1 << 34);
        let size = 8 << 20;
        for _ in 0..10 {
            let base = memory.allocate(&request(size)).unwrap();
            // SAFETY: the allocation has `size` bytes. The children only write there and end.
            unsafe {
                base.write_bytes(1, size as usize);
                let at = base as usize;
                std::thread::scope(|scope| {
                    let moving = scope.spawn(|| memory.export(at).is_ok());
                    while !moving.is_finished() {
                        let child = libc::fork();
                        if child == 0 {
                            // Ends a child whose write never returns.
                            libc::alarm(60);
                            base.add(5000).write_volatile(1);
                            libc::_exit(0);
                        }
                        let mut status = 0;
                        assert_eq!(libc::waitpid(child, &mut status, 0), child);
                        assert_eq!(status, 0);
                    }
                    assert!(moving.join().unwrap());
                });
            }
            assert!(memory.free(base));
        }
    }

    #[test]
    fn populated_pages_are_there_and_unchanged() {
        let memory = Memory::new(1 << 30);
        let whole = AllocRequest {
            align: PAGE,
            ..request(64 * PAGE)
        };
        let base = memory.allocate(&whole).unwrap();
        let present = || {
            let mut there = [0u8; 64];
            // SAFETY: 64 pages of the allocation, a byte for each.
            unsafe { libc::mincore(base.cast(), 64 * PAGE as usize, there.as_mut_ptr()) };
            there.iter().filter(|byte| **byte & 1 == 1).count()
        };
        // SAFETY: the allocation's.
        unsafe { base.add(5).write(7) };
        assert_eq!(present(), 1);
        let at = base as usize;
        // SAFETY: asks for nothing but whether the advice is known.
        let known = unsafe { libc::madvise(base.cast(), 0, libc::MADV_POPULATE_WRITE) == 0 };
        // (first byte, bytes, pages there afterwards)
        for (from, size, pages) in [
            (at + 10, 0, 1),
            (at + 10, 3 * PAGE, 4),
            (at + 60 * PAGE as usize, u64::MAX >> 1, 4 + 4),
            (at, u64::MAX, 8),
            (at, 64 * PAGE, 64),
            (16, 100, 64),
        ] {
            memory.populate(from, size);
            assert!(
                !known || present() == pages,
                "{from:#x} {size}: {}",
                present()
            );
        }
        // SAFETY: the allocation's.
        unsafe { assert_eq!((base.add(5).read(), base.add(4096).read()), (7, 0)) };
        let own = vec![3u8; 100_000];
        memory.populate(own.as_ptr() as usize, 100_000);
        assert!(own.iter().all(|byte| *byte == 3));
    }

    #[test]
    fn adopted_memory_is_found_and_not_changed() {
        let memory = Memory::new(1 << 20);
        let base = memory.reserve(0, 4 * PAGE).unwrap();
        assert!(memory.adopt(&request(4 * PAGE), base as *mut u8));
        assert!(!memory.adopt(&request(PAGE), (base + PAGE as usize) as *mut u8));
        assert_eq!(
            memory.find((base + 5000) as *const u8).unwrap().base as usize,
            base
        );
        assert!(memory.export(base).is_err());
        // Pages where an allocation begins or ends in the middle are included.
        let large = (0..33).map(|_| memory.allocate(&request(40 << 10)).unwrap());
        for inner in large {
            let page = inner as u64 & !(PAGE - 1);
            for at in [page, (inner as u64 + (40 << 10) - 1) & !(PAGE - 1)] {
                assert!(!memory.adopt(&request(PAGE), at as *mut u8), "{inner:?}");
            }
            assert!(memory.free(inner));
        }
        assert!(memory.free(base as *mut u8));
        assert!(
            memory.protect(base, 4 * PAGE, Access::ReadOnly),
            "still there"
        );
        memory.release(base, 4 * PAGE);
    }
}
