//! The origin of an object: the call, the thread and the location in the program.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::value::function;

static CALLS: AtomicU64 = AtomicU64::new(0);
static THREADS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    // Without a destructor: a library with one could not be unloaded.
    static THREAD: Cell<u64> = const { Cell::new(0) };
    /// The function that this thread is executing.
    static LAST: Cell<usize> = const { Cell::new(0) };
}

/// A number for the thread, from 1.
pub(super) fn thread() -> u64 {
    THREAD.with(|own| {
        if own.get() == 0 {
            own.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        own.get()
    })
}

/// Sets the function that this thread is executing.
pub(super) fn enter(index: usize) {
    LAST.with(|last| last.set(index));
}

/// The function that this thread is executing.
pub(super) fn last() -> usize {
    LAST.with(Cell::get)
}

/// A call that created an object.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    index: usize,
    number: u64,
    thread: u64,
    /// The return address of the call in the program; 0 if it is not known.
    site: usize,
}

impl Origin {
    /// This thread's call.
    pub(super) fn here(index: usize) -> Self {
        Self {
            index,
            number: CALLS.fetch_add(1, Ordering::Relaxed) + 1,
            thread: thread(),
            site: site(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "created by {} (#{}, thread {}",
            function(self.index).name,
            self.number,
            self.thread
        )?;
        if let Some(place) = place(self.site) {
            write!(f, ", at {place}")?;
        }
        f.write_str(")")
    }
}

/// How many frames are searched for the program.
const DEPTH: usize = 24;

/// The first return address outside this library.
#[cfg(target_env = "gnu")]
fn site() -> usize {
    let mut frames = [std::ptr::null_mut::<c_void>(); DEPTH];
    // SAFETY: as much room as is said.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), DEPTH as libc::c_int) };
    let own = library(site as *const () as usize).map(|info| info.dli_fbase.addr());
    let frames = frames.iter().take(usize::try_from(count).unwrap_or(0));
    frames
        .map(|frame| frame.addr())
        .find(|frame| library(*frame).map(|info| info.dli_fbase.addr()) != own)
        .unwrap_or(0)
}

#[cfg(not(target_env = "gnu"))]
fn site() -> usize {
    0
}

fn library(address: usize) -> Option<libc::Dl_info> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; `info` is written when the answer is not 0.
    unsafe {
        let known = libc::dladdr(std::ptr::without_provenance(address), info.as_mut_ptr());
        (known != 0).then(|| info.assume_init())
    }
}

/// The library, the offset and, if known, the function of an address.
fn place(address: usize) -> Option<String> {
    let info = (address != 0).then(|| library(address)).flatten()?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the dynamic linker's strings live as long as the library is loaded.
    let file = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy();
    let file = file.rsplit('/').next().unwrap_or_default().to_string();
    let mut text = format!("{file}+{:#x}", address.wrapping_sub(info.dli_fbase.addr()));
    if !info.dli_sname.is_null() {
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(info.dli_sname) }.to_string_lossy();
        text.push_str(&format!(" {name}"));
    }
    Some(text)
}
