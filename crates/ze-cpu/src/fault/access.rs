//! Access to memory that may not be there, and Rust code inside of guarded calls.

use super::processor::solum_guard_call;
use super::record::OWN;

/// Longest string that [`string_at`] reads.
const LONGEST: usize = 64 << 10;

/// Runs `body` with the guard off: for callbacks from guarded code into Rust, where a fault would leave locks held and
/// destructors not run.
pub(crate) fn disarmed<R>(body: impl FnOnce() -> R) -> R {
    let record = OWN.get();
    if record.is_null() {
        return body();
    }
    // SAFETY: the record is this thread's and lives as long as the thread is guarded.
    let stack = unsafe { std::mem::replace(&mut (*record).stack, 0) };
    let result = body();
    // SAFETY: as above.
    unsafe { (*record).stack = stack };
    result
}

/// Copies `len` bytes that may be inaccessible. `false` if they are, and if the thread is not guarded: the copy is then
/// not tried.
///
/// A signal of the watchdog that comes meanwhile is sent again later: it ends the kernel whose callback this is, not the
/// copy.
pub(crate) fn copy_here(dst: *mut u8, src: *const u8, len: usize) -> bool {
    let record = OWN.get();
    if record.is_null() {
        return false;
    }
    let code = move_bytes as *const () as usize;
    // SAFETY: the record is this thread's; `move_bytes` drops nothing and takes any pointers.
    unsafe {
        let before = std::mem::replace(&mut (*record).in_callback, true);
        let signal = solum_guard_call(record, code, dst as usize, src as usize, len, 0, 0);
        (*record).in_callback = before;
        signal == 0
    }
}

/// The string at `address`, as far as it can be read and at most [`LONGEST`] bytes.
pub(crate) fn string_at(address: u64) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < LONGEST {
        let at = address.wrapping_add(text.len() as u64);
        // Never across a page, which may be the last one.
        let mut piece = [0u8; 256];
        let len = piece.len().min(4096 - (at % 4096) as usize);
        if !copy_here(piece.as_mut_ptr(), at as *const u8, len) {
            break;
        }
        match piece[..len].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&piece[..end]);
                break;
            }
            None => text.extend_from_slice(&piece[..len]),
        }
    }
    text
}
/// libc's memmove rather than Rust's, which checks pointers in debug builds: here the guard handles bad ones.
pub(super) unsafe extern "C" fn move_bytes(dst: *mut u8, src: *const u8, len: usize) {
    // SAFETY: the caller is the guard, which takes any pointers.
    unsafe {
        libc::memmove(dst.cast(), src.cast(), len);
    }
}

pub(super) unsafe extern "C" fn set_bytes(dst: *mut u8, value: usize, len: usize) {
    // SAFETY: the caller is the guard, which takes any pointers.
    unsafe {
        libc::memset(dst.cast(), value as i32, len);
    }
}
