//! The arguments of one launch as bytes, and the kind of each kernel parameter.

use std::ffi::c_void;

use level_zero::sys::ze_sampler_handle_t;
use smallvec::SmallVec;

use crate::error::{Errc, Error, Result};
use crate::image::Sampler;
use crate::range::DeviceData;

/// Receives the arguments of a launch.
#[derive(Debug)]
pub struct ArgSink<'a>(pub(crate) &'a mut Arguments);

/// The arguments of one launch.
#[derive(Debug, Default, Clone)]
pub(crate) struct Arguments {
    slots: SmallVec<[Slot; 8]>,
    bytes: SmallVec<[u8; 128]>,
    /// Why the launch cannot have these arguments.
    refused: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    offset: u32,
    size: u32,
    kind: ArgumentKind,
    /// For accessors: the accessor's index in the group, until a pointer replaces it.
    access: u32,
}

/// The kind of a kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A pointer to global or constant memory.
    Pointer,
    /// Work-group local memory.
    Local,
    /// By value.
    Value,
    /// An image.
    Image {
        /// The number of dimensions, 1 to 3.
        dimensions: usize,
        /// The kernel writes the image, or the accessor allows it.
        writes: bool,
    },
    /// A sampler.
    Sampler,
}

const NO_ACCESS: u32 = u32::MAX;

impl Arguments {
    /// Removes all arguments, in place.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.bytes.clear();
        self.refused = None;
    }

    fn push(&mut self, kind: ArgumentKind, value: &[u8], access: u32) {
        // Values are read in place, so each begins at a multiple of 16.
        let offset = self.bytes.len().next_multiple_of(16);
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(value);
        self.slots.push(Slot {
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
            size: u32::try_from(value.len()).unwrap_or(u32::MAX),
            kind,
            access,
        });
    }

    /// Replaces accessors by pointers.
    pub(crate) fn resolve(&mut self, pointer: impl Fn(usize) -> usize) {
        for slot in self.slots.iter().filter(|slot| slot.access != NO_ACCESS) {
            let at = slot.offset as usize;
            let base = pointer(slot.access as usize);
            let mut offset = [0; size_of::<usize>()];
            let place = &mut self.bytes[at..at + size_of::<usize>()];
            offset.copy_from_slice(place);
            let value = base.wrapping_add(usize::from_ne_bytes(offset));
            place.copy_from_slice(&value.to_ne_bytes());
        }
    }

    /// Replaces sampler descriptions by the device's samplers.
    pub(crate) fn make_samplers(
        &mut self,
        mut make: impl FnMut(Sampler) -> Result<ze_sampler_handle_t>,
    ) -> Result<()> {
        for slot in self
            .slots
            .iter()
            .filter(|slot| slot.kind == ArgumentKind::Sampler)
        {
            let at = slot.offset as usize;
            let place = &mut self.bytes[at..at + size_of::<u64>()];
            let mut code = [0; size_of::<u64>()];
            code.copy_from_slice(place);
            let handle = make(Sampler::of_code(u64::from_ne_bytes(code)))?;
            place.copy_from_slice(&(handle.expose_provenance() as u64).to_ne_bytes());
        }
        Ok(())
    }

    /// One pointer for each argument: to the value, or for local memory to the size.
    pub(crate) fn pointers(&mut self) -> SmallVec<[*mut c_void; 16]> {
        let base = self.bytes.as_mut_ptr();
        let slots = self.slots.iter();
        slots
            .map(|slot| base.wrapping_add(slot.offset as usize).cast())
            .collect()
    }

    /// Size and value of each argument; local memory has no value.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, *const c_void)> + '_ {
        self.slots.iter().map(|slot| {
            let at = slot.offset as usize;
            let bytes = &self.bytes[at..at + slot.size as usize];
            match (slot.kind, bytes.try_into()) {
                (ArgumentKind::Local, Ok(size)) => (usize::from_ne_bytes(size), std::ptr::null()),
                _ => (bytes.len(), bytes.as_ptr().cast()),
            }
        })
    }

    /// Each argument for tools: kind (a number of theirs), address of the value, size. Valid until an argument is added
    /// or moved.
    #[cfg(feature = "xpti")]
    pub(crate) fn told(&self) -> impl Iterator<Item = (i32, *const c_void, usize)> + '_ {
        self.slots.iter().map(|slot| {
            let kind = match slot.kind {
                ArgumentKind::Value => 1,
                ArgumentKind::Sampler => 2,
                ArgumentKind::Pointer if slot.access == NO_ACCESS => 3,
                ArgumentKind::Pointer | ArgumentKind::Local | ArgumentKind::Image { .. } => 0,
            };
            let value = &self.bytes[slot.offset as usize..];
            (kind, value.as_ptr().cast(), slot.size as usize)
        })
    }

    /// Checks the arguments against a kernel's parameters.
    pub(crate) fn check(
        &self,
        kernel: &str,
        count: usize,
        known: Option<&[(ArgumentKind, usize)]>,
    ) -> Result<()> {
        let wrong = |text| Err(Error::new(Errc::KernelArgument, text));
        if self.slots.len() != count {
            return wrong(format!(
                "kernel {kernel} takes {count} arguments, not {}",
                self.slots.len()
            ));
        }
        if let Some(why) = self.refused {
            return wrong(format!("kernel {kernel}: {why}"));
        }
        for (index, (slot, (kind, size))) in self.slots.iter().zip(known.unwrap_or(&[])).enumerate()
        {
            let fits = match (slot.kind, *kind) {
                (
                    ArgumentKind::Image {
                        dimensions: given,
                        writes: may,
                    },
                    ArgumentKind::Image { dimensions, writes },
                ) => given == dimensions && (may || !writes),
                (given, wanted) => given == wanted,
            };
            if !fits {
                return wrong(format!(
                    "argument {index} of kernel {kernel} is of kind {kind:?}, not {:?}",
                    slot.kind
                ));
            }
            if slot.kind == ArgumentKind::Value && slot.size as usize != *size {
                return wrong(format!(
                    "argument {index} of kernel {kernel} has {size} bytes, not {}",
                    slot.size
                ));
            }
        }
        Ok(())
    }
}

impl ArgSink<'_> {
    /// Passes a value.
    pub fn value<T: DeviceData>(&mut self, value: T) {
        // SAFETY: every byte of a `DeviceData` value is initialised.
        let bytes =
            unsafe { std::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        self.0.push(ArgumentKind::Value, bytes, NO_ACCESS);
    }

    /// Passes a pointer to global memory. The program itself must order the launch after other users of that memory.
    pub fn pointer(&mut self, pointer: *const c_void) {
        let bytes = pointer.addr().to_ne_bytes();
        self.0.push(ArgumentKind::Pointer, &bytes, NO_ACCESS);
    }

    /// Passes local memory of the given size.
    pub fn local(&mut self, bytes: usize) {
        let size = bytes.to_ne_bytes();
        self.0.push(ArgumentKind::Local, &size, NO_ACCESS);
    }

    /// Makes the launch fail with this text.
    pub(crate) fn refuse(&mut self, why: &'static str) {
        self.0.refused.get_or_insert(why);
    }

    pub(crate) fn image(&mut self, access: u32, dimensions: usize, writes: bool) {
        let bytes = 0usize.to_ne_bytes();
        let kind = ArgumentKind::Image { dimensions, writes };
        self.0.push(kind, &bytes, access);
    }

    pub(crate) fn sampler(&mut self, sampler: Sampler) {
        let bytes = sampler.code().to_ne_bytes();
        self.0.push(ArgumentKind::Sampler, &bytes, NO_ACCESS);
    }

    pub(crate) fn accessor(&mut self, access: u32, offset: usize) {
        let bytes = offset.to_ne_bytes();
        self.0.push(ArgumentKind::Pointer, &bytes, access);
    }
}
