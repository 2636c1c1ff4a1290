//! Memories of buffers and images: allocation and release.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use level_zero::sys::*;

use crate::context::Context;
use crate::engine::allocation::{destroy_image, free};

/// Whether memory is freed at its buffer's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The runtime frees it.
    Free,
    /// The program keeps it.
    Keep,
}

/// One allocation, or one native image.
pub(crate) struct Memory {
    /// The first byte of an allocation, or an image's handle.
    pub(crate) pointer: *mut u8,
    pub(crate) context: Context,
    pub(crate) end: End,
    is_image: bool,
}

// SAFETY: USM is not bound to a thread; the buffer orders all accesses.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

/// The first byte of each buffer's memory, with a count, because several buffers may use one block of the program.
static BUFFERS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Whether a pointer is the first byte of a buffer's memory.
pub(crate) fn is_buffers(pointer: *const c_void) -> bool {
    let known = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    known.contains_key(&pointer.addr())
}

impl Memory {
    pub(crate) fn new(pointer: *mut u8, context: &Context, end: End) -> Self {
        let mut known = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(pointer.addr()).or_default() += 1;
        Self {
            pointer,
            context: context.clone(),
            end,
            is_image: false,
        }
    }

    pub(crate) fn image(image: ze_image_handle_t, context: &Context, end: End) -> Self {
        Self {
            pointer: image.cast(),
            context: context.clone(),
            end,
            is_image: true,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_image {
            if self.end == End::Free {
                destroy_image(&self.context.0.native, self.pointer.cast());
            }
            return;
        }
        let mut known = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut users) = known.entry(self.pointer.addr()) {
            *users.get_mut() -= 1;
            if *users.get() == 0 {
                users.remove();
            }
        }
        drop(known);
        if self.end == End::Free {
            free(&self.context.0.native, self.pointer.cast());
        }
    }
}
