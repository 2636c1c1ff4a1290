//! Queue operations on pointers.

use std::ffi::c_void;

use level_zero::sys::*;
use smallvec::{SmallVec, smallvec};

use super::block::{Block, DeviceKind, HostKind, SharedKind};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::operation::{Operation, Region};
use crate::queue::Queue;
use crate::range::DeviceData;
use crate::staging::Staging;

impl<T: DeviceData> Block<T, DeviceKind> {
    /// Allocates memory on the queue's device. Its contents are undefined.
    ///
    /// # Errors
    /// [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn device(queue: &Queue, count: usize) -> Result<Self> {
        Self::allocate(&queue.0.context, Some(&queue.0.device), count)
    }
}
impl<T: DeviceData> Block<T, HostKind> {
    /// Allocates host memory.
    ///
    /// # Errors
    /// [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn host(queue: &Queue, count: usize) -> Result<Self> {
        Self::allocate(&queue.0.context, None, count)
    }
}
impl<T: DeviceData> Block<T, SharedKind> {
    /// Allocates memory shared by the queue's device and the host.
    ///
    /// # Errors
    /// [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn shared(queue: &Queue, count: usize) -> Result<Self> {
        Self::allocate(&queue.0.context, Some(&queue.0.device), count)
    }
}

/// A two-dimensional part of memory.
#[derive(Clone, Copy, Debug)]
pub struct Pitched<P> {
    /// The first byte.
    pub pointer: P,
    /// Bytes from the start of a row to the start of the next.
    pub pitch: usize,
}

impl Queue {
    #[track_caller]
    fn operation(&self, operation: Operation, after: &[Event]) -> Result<Event> {
        self.submit(|cg| {
            cg.depends_on(after);
            cg.operations(smallvec![operation], None)
        })
    }

    /// Copies bytes.
    ///
    /// # Safety
    /// Both pointers are valid for this many bytes, which are not used otherwise, until the command has ended.
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn memcpy(
        &self,
        target: *mut c_void,
        source: *const c_void,
        bytes: usize,
        after: &[Event],
    ) -> Result<Event> {
        if bytes == 0 {
            return self.submit_after(after);
        }
        let operation = Operation::Copy {
            target: target.cast(),
            source: source.cast(),
            bytes,
        };
        self.operation(operation, after)
    }

    /// Copies elements, SYCL's `queue::copy`.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Self::memcpy`].
    #[track_caller]
    pub unsafe fn copy<T: DeviceData>(
        &self,
        source: *const T,
        target: *mut T,
        count: usize,
        after: &[Event],
    ) -> Result<Event> {
        let bytes = count
            .checked_mul(size_of::<T>())
            .ok_or_else(|| Error::invalid("the elements exceed the address space"))?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.memcpy(target.cast(), source.cast(), bytes, after) }
    }

    /// Copies rows of `width` bytes.
    ///
    /// # Safety
    /// As [`Self::memcpy`] for every row.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for a pitch below the width.
    #[track_caller]
    pub unsafe fn memcpy_2d(
        &self,
        target: Pitched<*mut c_void>,
        source: Pitched<*const c_void>,
        width: usize,
        rows: usize,
        after: &[Event],
    ) -> Result<Event> {
        if width == 0 || rows == 0 {
            return self.submit_after(after);
        }
        if target.pitch < width || source.pitch < width {
            return Err(Error::invalid(format!(
                "rows of {width} bytes overlap: pitches are {} and {}",
                target.pitch, source.pitch
            )));
        }
        let region = Box::new(Region {
            target: target.pointer.cast(),
            source: source.pointer.cast(),
            target_origin: [0; 3],
            source_origin: [0; 3],
            size: [width, rows, 1],
            target_pitches: [target.pitch, 0],
            source_pitches: [source.pitch, 0],
        });
        self.operation(region.simplest(), after)
    }

    /// Sets bytes.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn memset(
        &self,
        target: *mut c_void,
        value: u8,
        bytes: usize,
        after: &[Event],
    ) -> Result<Event> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.fill(target.cast::<u8>(), value, bytes, after) }
    }

    /// Sets elements of any size.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`]; [`crate::Errc::MemoryAllocation`] if memory for a pattern that the device does not support
    /// is short.
    #[track_caller]
    pub unsafe fn fill<T: DeviceData>(
        &self,
        target: *mut T,
        value: T,
        count: usize,
        after: &[Event],
    ) -> Result<Event> {
        let size = size_of::<T>();
        let bytes = count
            .checked_mul(size)
            .ok_or_else(|| Error::invalid("the elements exceed the address space"))?;
        if bytes == 0 {
            return self.submit_after(after);
        }
        // SAFETY: every byte of a `DeviceData` value is initialised.
        let pattern = unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size) };
        let longest = self.0.device.compute_group()?.longest_pattern;
        if size.is_power_of_two() && size <= longest {
            let operation = Operation::Fill {
                target: target.cast(),
                pattern: SmallVec::from_slice(pattern),
                bytes,
            };
            return self.operation(operation, after);
        }
        let staged = Staging::new(&self.0.context, pattern, bytes)?;
        let mut operations = SmallVec::new();
        staged.copies(target.cast(), bytes, &mut operations);
        self.submit(|cg| {
            cg.depends_on(after);
            cg.operations(operations, Some(Box::new(staged)))
        })
    }

    /// Migrates shared memory to the device before it is used there.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn prefetch(
        &self,
        pointer: *const c_void,
        bytes: usize,
        after: &[Event],
    ) -> Result<Event> {
        self.operation(Operation::Prefetch { pointer, bytes }, after)
    }

    /// Advises the driver how memory will be used, as in `ze_memory_advice_t`.
    ///
    /// # Safety
    /// As [`Self::memcpy`].
    ///
    /// # Errors
    /// As [`Queue::submit`].
    #[track_caller]
    pub unsafe fn mem_advise(
        &self,
        pointer: *const c_void,
        bytes: usize,
        advice: ze_memory_advice_t,
        after: &[Event],
    ) -> Result<Event> {
        let operation = Operation::Advise {
            device: self.0.device.handle(),
            pointer,
            bytes,
            advice,
        };
        self.operation(operation, after)
    }

    #[track_caller]
    fn submit_after(&self, after: &[Event]) -> Result<Event> {
        self.submit(|cg| {
            cg.depends_on(after);
            cg.barrier()
        })
    }
}
