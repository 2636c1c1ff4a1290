//! Reservations, physical memory, and allocations over files that others gave us.

use super::map::PAGE;
use super::store::{Store, memory_file};
use super::{ADOPTED, IMPORTED, Memory, OPENED, arena_of, mine, room_of};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use ze_driver::address_space::{Access, AddressSpace, Pages};
use ze_driver::device::{AllocError, AllocRequest};

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

/// Inaccessible address space: at `at` or not at all when `exact` is a flag that says so.
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

    fn reserve(&self, hint: usize, size: u64) -> Option<usize> {
        // A hint that is taken makes the system choose another place.
        inaccessible(hint, size, 0)
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
        let Some(file) = memory_file(size) else {
            self.used.fetch_sub(size, Ordering::Relaxed);
            return Err(AllocError::OutOfMemory);
        };
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
        // SAFETY: the caller owns the reservation around `at`; what was mapped there is no longer used.
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

    fn export(&self, base: usize) -> Option<(OwnedFd, u64)> {
        let found = || self.map.find(base).filter(|entry| entry.base == base);
        let arena = arena_of(found()?.tag);
        // Under the arena's lock the store cannot be closed between the look and the copy of its descriptor.
        let _arena = self.lock(arena);
        let entry = found().filter(|entry| arena_of(entry.tag) == arena)?;
        let (store, offset) = (entry.store, entry.offset);
        if store < 0 {
            return None;
        }
        // SAFETY: the descriptor is a store's, which lives as long as its allocation.
        let file = unsafe { BorrowedFd::borrow_raw(store) };
        Some((file.try_clone_to_owned().ok()?, offset))
    }

    fn import(
        &self,
        request: &AllocRequest,
        file: OwnedFd,
        offset: u64,
        opened: bool,
    ) -> Result<*mut u8, AllocError> {
        // Files are mapped from a page on; what is asked for begins as far into it as where it comes from.
        let inner = offset % PAGE;
        let len = room_of(inner, request.size).ok_or(AllocError::TooLarge)?;
        let align = request.align.max(PAGE);
        let store = Store::view(File::from(file), offset - inner, len, align)
            .ok_or(AllocError::OutOfMemory)?;
        let bits = IMPORTED | if opened { OPENED } else { 0 };
        let index = mine();
        let mut arena = self.lock(index);
        let (page, descriptor, from) = arena.keep(store);
        let base = page + inner as usize;
        let place = (base, descriptor, from + inner);
        if !self.enter(index, &mut arena, request, place, bits) {
            arena.give_back(page, len, None, &self.kept);
            return Err(AllocError::OutOfMemory);
        }
        Ok(base as *mut u8)
    }

    fn adopt(&self, request: &AllocRequest, base: *mut u8) -> bool {
        let index = mine();
        let place = (base as usize, -1, 0);
        self.enter(index, &mut self.lock(index), request, place, ADOPTED)
    }

    fn populate(&self, base: usize, size: u64) {
        let Some(end) = usize::try_from(size)
            .ok()
            .and_then(|size| base.checked_add(size))
        else {
            return;
        };
        // Of the program's own memory only what it has: writing would take copies of shared pages.
        match self.map.find(base) {
            Some(entry) => populate(base, end.min(entry.base + entry.size as usize), true),
            None => populate(base, end, false),
        }
    }
}

/// Makes pages of `base..end` present, for writing too where `writable`.
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
    // SAFETY: changes no contents; a range that is not mapped, or a system that does not know the advice, is an error
    // that nobody needs: pages come when they are touched.
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
        // It does not begin with its page.
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
        assert!(memory.export(mine.wrapping_add(1) as usize).is_none());
    }

    /// Each byte of what is opened is the same byte of what was exported, at the same place of a page.
    #[test]
    fn what_is_opened_is_the_same_bytes_wherever_it_begins() {
        let memory = Memory::new(1 << 34);
        for size in [1, 32 << 10, (32 << 10) + 1, 100_000, (33 << 20) + 7] {
            // Once around all places of a page.
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
                // What was opened can be exported again.
                let (file, again) = memory.export(view as usize).unwrap();
                assert_eq!(again, offset);
                drop(file);
                assert!(memory.free(view) && memory.free(base));
            }
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
    fn adopted_memory_is_found_and_left_alone() {
        let memory = Memory::new(1 << 20);
        let base = memory.reserve(0, 4 * PAGE).unwrap();
        assert!(memory.adopt(&request(4 * PAGE), base as *mut u8));
        assert!(!memory.adopt(&request(PAGE), (base + PAGE as usize) as *mut u8));
        assert_eq!(
            memory.find((base + 5000) as *const u8).unwrap().base as usize,
            base
        );
        assert!(memory.export(base).is_none());
        // Pages where an allocation begins or ends in the midst are taken, too.
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
