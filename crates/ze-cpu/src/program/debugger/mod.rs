//! Registers compiled kernels with debuggers: names and lines, by GDB's interface for code made at run time.
//!
//! Invariants
//! - Nothing is registered unless `SOLUM_PERF` is 1 or a debugger is attached when a program is loaded.
//! - A registration is withdrawn before its code is unmapped.
//!
//! Pages of code are mapped for reading and running only, and shared with the view they are written through, so that a
//! debugger cannot put breakpoints into them as instructions: those of the processor work (`hbreak`).
//!
//! A line is that of the kernel's function (`OpLine`), not of each instruction. The debugger finds the two symbols below
//! in the library's own table of symbols: in a stripped library it finds none.

mod lines;
mod symbols;

use crate::sync::lock;
pub(super) use lines::lines;
#[cfg(test)]
pub(super) use lines::tests as noted;
use std::sync::Mutex;
pub(super) use symbols::Function;

std::arch::global_asm!(
    // Weak: a program that has another maker of code linked in has both symbols already, of the same form.
    ".pushsection .text.solum_jit,\"ax\",@progbits",
    ".weak __jit_debug_register_code",
    ".hidden __jit_debug_register_code",
    ".type __jit_debug_register_code,@function",
    ".p2align 4",
    "__jit_debug_register_code:",
    "ret",
    ".size __jit_debug_register_code, . - __jit_debug_register_code",
    ".popsection",
    ".pushsection .data.solum_jit,\"aw\",@progbits",
    ".weak __jit_debug_descriptor",
    ".hidden __jit_debug_descriptor",
    ".type __jit_debug_descriptor,@object",
    ".p2align 3",
    "__jit_debug_descriptor:",
    ".long 1",
    ".long 0",
    ".quad 0",
    ".quad 0",
    ".size __jit_debug_descriptor, . - __jit_debug_descriptor",
    ".popsection",
);

unsafe extern "C" {
    /// A debugger stops here, and reads the descriptor.
    safe fn __jit_debug_register_code();
    static mut __jit_debug_descriptor: Descriptor;
}

/// `struct jit_descriptor` of GDB's interface.
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

/// `struct jit_code_entry`.
#[repr(C)]
#[derive(Debug)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    size: u64,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// Held while the descriptor or its list changes.
static LIST: Mutex<()> = Mutex::new(());

/// A program that is registered with debuggers until this is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    entry: *mut Entry,
    /// The file that the entry points to.
    _file: Box<[u8]>,
}
// SAFETY: our entry; its neighbours in the list are only used under `LIST`.
unsafe impl Send for Registration {}
// SAFETY: nothing can be done with a reference.
unsafe impl Sync for Registration {}

/// Whether a program that is loaded now is registered.
pub(super) fn is_asked() -> bool {
    super::perf::is_wanted() || is_traced()
}

/// Whether a debugger is attached to this process.
fn is_traced() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"))
        .is_some_and(|tracer| tracer.trim() != "0")
}

/// Registers functions with debuggers; `None` without functions.
pub(super) fn register(functions: &[Function<'_>]) -> Option<Registration> {
    let file = symbols::object(functions)?.into_boxed_slice();
    let entry = Box::into_raw(Box::new(Entry {
        next: std::ptr::null_mut(),
        previous: std::ptr::null_mut(),
        file: file.as_ptr(),
        size: file.len() as u64,
    }));
    let _list = lock(&LIST);
    // SAFETY: our descriptor, which changes only under the lock; entries live until they are removed.
    unsafe {
        let descriptor = &raw mut __jit_debug_descriptor;
        (*entry).next = (*descriptor).first;
        if let Some(next) = (*entry).next.as_mut() {
            next.previous = entry;
        }
        (*descriptor).first = entry;
        (*descriptor).relevant = entry;
        (*descriptor).action = REGISTER;
    }
    __jit_debug_register_code();
    Some(Registration { entry, _file: file })
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _list = lock(&LIST);
        // SAFETY: as in `register`; the entry came from a box and no debugger reads it once the call has returned.
        unsafe {
            let descriptor = &raw mut __jit_debug_descriptor;
            let (next, previous) = ((*self.entry).next, (*self.entry).previous);
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => (*descriptor).first = next,
            }
            (*descriptor).relevant = self.entry;
            (*descriptor).action = UNREGISTER;
            __jit_debug_register_code();
            drop(Box::from_raw(self.entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of the list, from its first to its last, and back.
    fn list() -> Vec<*mut Entry> {
        let _list = lock(&LIST);
        let mut all = Vec::new();
        // SAFETY: entries live until they are taken out, which needs the lock.
        unsafe {
            let descriptor = &raw const __jit_debug_descriptor;
            let mut entry = (*descriptor).first;
            let mut previous = std::ptr::null_mut();
            while !entry.is_null() {
                assert_eq!((*entry).previous, previous);
                all.push(entry);
                (previous, entry) = (entry, (*entry).next);
            }
        }
        all
    }

    #[test]
    fn a_registration_is_in_the_list_until_it_is_dropped() {
        let function = Function {
            name: "f",
            address: 0x1000,
            size: 16,
            line: None,
        };
        assert!(register(&[]).is_none());
        let registered: Vec<_> = (0..3).map(|_| register(&[function]).unwrap()).collect();
        let entries: Vec<_> = registered
            .iter()
            .map(|registration| registration.entry)
            .collect();
        let there = |entry: &*mut Entry| list().contains(entry);
        assert!(entries.iter().all(there));
        let mut registered = registered.into_iter();
        let first = registered.next();
        // The middle one, then the others.
        drop(registered.next());
        assert!(there(&entries[0]) && !there(&entries[1]) && there(&entries[2]));
        drop((first, registered));
        assert!(!there(&entries[0]) && !there(&entries[2]));
    }
}
