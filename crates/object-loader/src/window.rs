//! Address space for code and its data, within 2 GiB, so that 32-bit relative references reach.
//!
//! The code part is mapped twice, once writable and once executable. Pages are allocated when they are first touched.

use crate::FreeList;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Sizes to try, of the code part and of the data part alike. The small ones are for processes with a limit on their
/// address space.
const SIZES: [usize; 3] = [512 << 20, 64 << 20, 8 << 20];
/// The window takes no more than this part of such a limit: stacks, the compiler and the program's memory need the rest.
const SHARE_OF_LIMIT: u64 = 4;

/// Allocation unit: a cache line.
const UNIT: u64 = 64;

struct Window {
    code: usize,
    /// Bytes of code and data together.
    bytes: usize,
    /// Distance from an address of the code part to its writable mapping.
    write_offset: usize,
    free_code: Mutex<FreeList>,
    free_data: Mutex<FreeList>,
}

static WINDOW: OnceLock<Option<Window>> = OnceLock::new();

/// A part of the window.
#[derive(Debug)]
pub(crate) struct Block {
    /// Address for execution, or of data.
    pub(crate) address: usize,
    /// Address for writing.
    pub(crate) write: usize,
    len: u64,
    code: bool,
}

impl Block {
    /// `len` bytes, zeroed, for code and constants.
    pub(crate) fn code(len: u64, align: u64) -> Option<Self> {
        let window = window()?;
        let len = len.max(1).checked_next_multiple_of(UNIT)?;
        let address = take(&window.free_code, len, align)?;
        Some(Self::zeroed(
            address,
            address.wrapping_add(window.write_offset),
            len,
            true,
        ))
    }

    /// `len` bytes, zeroed, for variables.
    pub(crate) fn data(len: u64, align: u64) -> Option<Self> {
        let window = window()?;
        let len = len.max(1).checked_next_multiple_of(UNIT)?;
        let address = take(&window.free_data, len, align)?;
        Some(Self::zeroed(address, address, len, false))
    }

    fn zeroed(address: usize, write: usize, len: u64, code: bool) -> Self {
        // SAFETY: the block is ours alone, `write` is its writable view.
        unsafe { std::ptr::write_bytes(write as *mut u8, 0, len as usize) };
        Self {
            address,
            write,
            len,
            code,
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(window) = window() {
            let list = if self.code {
                &window.free_code
            } else {
                &window.free_data
            };
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            list.add(self.address, self.len);
        }
    }
}

fn take(list: &Mutex<FreeList>, len: u64, align: u64) -> Option<usize> {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    list.take(len, align.max(UNIT))
}

/// Whether an address lies where the code and the variables of images are.
#[must_use]
pub fn is_in_window(address: usize) -> bool {
    WINDOW
        .get()
        .and_then(Option::as_ref)
        .is_some_and(|window| address.wrapping_sub(window.code) < window.bytes)
}

fn window() -> Option<&'static Window> {
    WINDOW
        .get_or_init(|| {
            let most =
                signal_mask::address_space_limit().map_or(u64::MAX, |has| has / SHARE_OF_LIMIT);
            // Code twice, data once; the smallest is tried in any case.
            let fits = |size: &usize| 3 * *size as u64 <= most || *size == SIZES[SIZES.len() - 1];
            SIZES.into_iter().filter(fits).find_map(open)
        })
        .as_ref()
}

fn open(size: usize) -> Option<Window> {
    let all = reserve(2 * size)?;
    let read_write = libc::PROT_READ | libc::PROT_WRITE;
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let write = twice_anonymous(all, size).or_else(|| twice_as_file(all, size));
    // SAFETY: maps over a reservation of ours only.
    unsafe {
        let write = match write {
            Some(write) => write,
            // A system that runs no code from memory with two views may still allow one for both.
            None => libc::mmap(all, size, read_write | libc::PROT_EXEC, private, -1, 0),
        };
        let data = all.cast::<u8>().add(size);
        let mapped = libc::mmap(data.cast(), size, read_write, private, -1, 0);
        if write == libc::MAP_FAILED || mapped == libc::MAP_FAILED {
            libc::munmap(all, 2 * size);
            if write != libc::MAP_FAILED && write != all {
                libc::munmap(write, size);
            }
            return None;
        }
        let mut window = Window {
            code: all as usize,
            bytes: 2 * size,
            write_offset: (write as usize).wrapping_sub(all as usize),
            free_code: Mutex::default(),
            free_data: Mutex::default(),
        };
        if let Ok(list) = window.free_code.get_mut() {
            list.add(window.code, size as u64);
        }
        if let Ok(list) = window.free_data.get_mut() {
            list.add(data as usize, size as u64);
        }
        Some(window)
    }
}

/// Memory to execute at `all`, which is reserved; its writable view. It has no file: perf looks up names in
/// `/tmp/perf-PID.map` only for such memory.
fn twice_anonymous(all: *mut libc::c_void, size: usize) -> Option<*mut libc::c_void> {
    let read_write = libc::PROT_READ | libc::PROT_WRITE;
    let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let moved = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: a fresh map; its second view, which an old size of 0 asks for, lies over a reservation of ours.
    unsafe {
        let write = libc::mmap(std::ptr::null_mut(), size, read_write, shared, -1, 0);
        if write == libc::MAP_FAILED {
            return None;
        }
        let second = libc::mremap(write, 0, size, moved, all);
        let executable = second != libc::MAP_FAILED
            && libc::mprotect(all, size, libc::PROT_READ | libc::PROT_EXEC) == 0;
        if !executable {
            libc::munmap(write, size);
            return None;
        }
        Some(write)
    }
}

/// As [`twice_anonymous`], of a memory file.
fn twice_as_file(all: *mut libc::c_void, size: usize) -> Option<*mut libc::c_void> {
    // MFD_EXEC, which systems since Linux 6.3 may ask for and older ones refuse.
    const EXEC: libc::c_uint = 0x10;
    let read_exec = libc::PROT_READ | libc::PROT_EXEC;
    let read_write = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: maps over a reservation of ours and at fresh addresses only; the descriptor is closed
    // when the maps stand.
    unsafe {
        let mut fd = libc::memfd_create(c"solum code".as_ptr(), libc::MFD_CLOEXEC | EXEC);
        if fd < 0 {
            fd = libc::memfd_create(c"solum code".as_ptr(), libc::MFD_CLOEXEC);
        }
        let mut write = libc::MAP_FAILED;
        let sized = || match libc::ftruncate(fd, size as libc::off_t) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        };
        if fd >= 0 && signal_mask::without_write_signals(sized).is_ok() {
            let none = std::ptr::null_mut();
            write = libc::mmap(none, size, read_write, libc::MAP_SHARED, fd, 0);
            let fixed = libc::MAP_SHARED | libc::MAP_FIXED;
            if write != libc::MAP_FAILED
                && libc::mmap(all, size, read_exec, fixed, fd, 0) == libc::MAP_FAILED
            {
                libc::munmap(write, size);
                write = libc::MAP_FAILED;
            }
        }
        if fd >= 0 {
            libc::close(fd);
        }
        (write != libc::MAP_FAILED).then_some(write)
    }
}

fn reserve(size: usize) -> Option<*mut libc::c_void> {
    // SAFETY: fresh address space without rights.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    (base != libc::MAP_FAILED).then_some(base)
}
