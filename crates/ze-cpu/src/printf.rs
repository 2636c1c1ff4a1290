//! The output of kernels: collected per launch, written to C's stdout in whole pieces.

use crate::fault::{copy_here, disarmed, string_at};
use crate::sync::lock;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// Bytes that are collected before they are written ahead of the launch's end.
const COLLECT: usize = 64 << 10;
/// Longest argument record believed.
const LARGEST_BLOB: usize = 1 << 20;

/// The format strings of a program.
pub(crate) type Formats = Arc<[Vec<u8>]>;

/// The output of one launch. Generated code passes its address to [`solum_printf`].
#[derive(Debug)]
pub(crate) struct Stream {
    formats: Formats,
    text: Mutex<Vec<u8>>,
}

impl Stream {
    /// Nothing has been printed.
    pub(crate) fn new(formats: Formats) -> Box<Self> {
        Box::new(Self {
            formats,
            text: Mutex::new(Vec::new()),
        })
    }

    /// One call of printf; OpenCL's result: 0, or -1.
    pub(crate) fn print(&self, format: u32, blob: &[u8]) -> i32 {
        let Some(format) = self.formats.get(format as usize) else {
            return -1;
        };
        let piece = kernel_ir::printf::format(format, blob, &mut string_at);
        let mut text = lock(&self.text);
        text.extend_from_slice(&piece);
        if text.len() >= COLLECT {
            write_out(&mut text);
        }
        0
    }

    /// Writes the collected text.
    pub(crate) fn flush(&self) {
        write_out(&mut lock(&self.text));
    }
}

/// Called by generated code; see [`kernel_ir::abi::PRINTF_SYMBOL`].
///
/// # Safety
/// `stream` is the address of a live [`Stream`], or 0, from the launch record. `blob` may be any pointer;
/// memory that cannot be read is not printed.
pub(crate) unsafe extern "C" fn solum_printf(
    stream: u64,
    format: u32,
    blob: *const u8,
    len: u32,
) -> i32 {
    if stream == 0 || len as usize > LARGEST_BLOB {
        return -1;
    }
    // Locks and allocations follow: no fault may leave from here.
    disarmed(|| {
        let mut bytes = vec![0; len as usize];
        if !copy_here(bytes.as_mut_ptr(), blob, bytes.len()) {
            return -1;
        }
        // SAFETY: the caller's promise.
        let stream = unsafe { &*(stream as *const Stream) };
        let print = std::panic::AssertUnwindSafe(|| stream.print(format, &bytes));
        std::panic::catch_unwind(print).unwrap_or(-1)
    })
}

unsafe extern "C" {
    /// C's own stream: output of the program and of its kernels keeps its order.
    static stdout: *mut libc::FILE;
}

fn write_out(text: &mut Vec<u8>) {
    if text.is_empty() {
        return;
    }
    // The program's own output goes first. A limit of file sizes or a closed pipe is an error, and no signal.
    let _ = signal_mask::without_write_signals(|| {
        // SAFETY: C's stream is valid in any running process.
        match unsafe { libc::fflush(stdout) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    });
    // Past the stream: bytes that it kept would raise the signal when the process exits.
    // SAFETY: as above.
    match unsafe { libc::fileno(stdout) } {
        // SAFETY: a stream without a descriptor writes to memory, which is our own.
        ..0 => unsafe {
            libc::fwrite(text.as_ptr().cast::<c_void>(), 1, text.len(), stdout);
        },
        descriptor => signal_mask::write_descriptor(descriptor, text),
    }
    text.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Guard;

    #[test]
    fn calls_from_kernels_are_collected_and_bad_pointers_print_nothing() {
        let _guard = Guard::enter().unwrap();
        let formats: Formats = vec![b"%d is %s|".to_vec()].into();
        let stream = Stream::new(formats);
        let address = std::ptr::from_ref(&*stream) as u64;
        let mut blob = Vec::new();
        kernel_ir::printf::push_argument(&mut blob, 0, 4, &[&7i32.to_le_bytes()]);
        let word = c"seven";
        let pointer = (word.as_ptr() as u64).to_le_bytes();
        kernel_ir::printf::push_argument(&mut blob, 5, 8, &[&pointer]);
        let len = blob.len() as u32;
        // SAFETY: the stream lives; the other pointers may be anything.
        unsafe {
            assert_eq!(solum_printf(address, 0, blob.as_ptr(), len), 0);
            assert_eq!(
                solum_printf(address, 1, blob.as_ptr(), len),
                -1,
                "unknown format"
            );
            assert_eq!(
                solum_printf(address, 0, 8 as *const u8, len),
                -1,
                "bad blob"
            );
            assert_eq!(solum_printf(0, 0, blob.as_ptr(), len), -1);
        }
        let at = blob.len() - 8;
        blob[at..].copy_from_slice(&16u64.to_le_bytes());
        // SAFETY: as above.
        unsafe { assert_eq!(solum_printf(address, 0, blob.as_ptr(), len), 0) };
        let text = std::mem::take(&mut *lock(&stream.text));
        assert_eq!(String::from_utf8(text).unwrap(), "7 is seven|7 is |");
    }
}
