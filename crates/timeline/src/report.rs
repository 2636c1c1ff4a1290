//! The bound on a report's size: it grows with the bytes read of the recordings, so that a small forged one cannot fill
//! a disk.

use std::io::{self, Write};

/// Bytes of a report for each byte read. The four records of a command have 192 bytes; a kernel's name of 8 KiB in its
/// event makes 45 times that.
pub const MAX_GROWTH: u64 = 64;
/// Bytes that any report may have.
pub const MIN_LIMIT: u64 = 64 << 20;
/// The longest text of an annotation in a report, in bytes.
pub const MAX_ANNOTATION: usize = 1024;

/// A writer that fails beyond the bound.
pub struct Report<W> {
    out: W,
    left: u64,
}

impl<W> Report<W> {
    /// Nothing has been read or written yet.
    pub fn new(out: W) -> Self {
        Self {
            out,
            left: MIN_LIMIT,
        }
    }

    /// This many more bytes of the recordings were read.
    pub fn read(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes.saturating_mul(MAX_GROWTH));
    }
}

impl<W: Write> Write for Report<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::Error::other(format!(
                "a report would be larger than {MAX_GROWTH} times the recordings and 64 MiB; --filter leaves out names"
            )));
        }
        let count = self.out.write(bytes)?;
        self.left -= count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The start of a text, at most `bytes` long.
#[must_use]
pub fn start(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
