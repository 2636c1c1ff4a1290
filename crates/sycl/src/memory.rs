//! Memories of buffers and images: their allocation and how it ends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use level_zero::sys::*;

use crate::context::Context;
use crate::engine::allocation::{destroy_image, free};

/// The fate of memory at its buffer's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It is freed.
    Free,
    /// It is the user's.
    Keep,
}

/// One allocation, or one native image.
pub(crate) struct Memory {
    /// The first byte, or the image's handle.
    pub(crate) pointer: *mut u8,
    pub(crate) context: Context,
    pub(crate) end: End,
    is_image: bool,
}

// SAFETY: USM belongs to no thread; who may touch it when is the buffer's to say.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

/// First bytes of all buffers' memories, and how many have each: several buffers may lie over one block of the program's.
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
