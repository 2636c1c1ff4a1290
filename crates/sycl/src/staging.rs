//! Patterns of fills that devices do not support directly.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::context::Context;
use crate::engine::allocation::{allocate_host, free, with_room};
use crate::engine::native_context::NativeContext;
use crate::error::Result;
use crate::operation::Operation;

/// A pattern that a device cannot repeat, repeated in host memory.
pub(crate) struct Staging {
    pointer: *mut u8,
    bytes: usize,
    native: Arc<NativeContext>,
}

// SAFETY: memory that is written only at its creation.
unsafe impl Send for Staging {}

/// Bytes of a repeated pattern.
const STAGED: usize = 64 * 1024;

impl Staging {
    pub(crate) fn new(context: &Context, pattern: &[u8], longest: usize) -> Result<Self> {
        let native = Arc::clone(&context.0.native);
        let times = (STAGED.min(longest) / pattern.len()).max(1);
        let bytes = times * pattern.len();
        let pointer = with_room(|| allocate_host(&native, bytes, 64))?.cast::<u8>();
        for at in 0..times {
            // SAFETY: inside the new allocation.
            unsafe {
                let target = pointer.wrapping_add(at * pattern.len());
                std::ptr::copy_nonoverlapping(pattern.as_ptr(), target, pattern.len());
            }
        }
        Ok(Self {
            pointer,
            bytes,
            native,
        })
    }

    /// The copies that fill this many bytes, a multiple of the pattern's length.
    pub(crate) fn copies(
        &self,
        target: *mut u8,
        bytes: usize,
        operations: &mut SmallVec<[Operation; 1]>,
    ) {
        let mut done = 0;
        while done < bytes {
            let length = self.bytes.min(bytes - done);
            operations.push(Operation::Copy {
                target: target.wrapping_add(done),
                source: self.pointer.cast_const(),
                bytes: length,
            });
            done += length;
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        free(&self.native, self.pointer.cast());
    }
}
