//! Unified shared memory as owned, typed boxes.

use std::marker::PhantomData;

use level_zero_sys::*;

use crate::context::Context;
use crate::driver::Device;
use crate::error::{Error, Result};

/// Types for which every pattern of bytes is a value, so that a device may write them.
///
/// # Safety
/// `Self` has no padding, no invalid bit patterns, no pointers that Rust follows, and needs no drop.
pub unsafe trait Plain: Copy + 'static {}
macro_rules! plain {
    ($($ty:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $ty {}
    )* };
}
plain!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64);
// SAFETY: an array adds no padding to plain values.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The kind of memory that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryType {
    /// Not memory of the driver.
    Unknown,
    /// Host USM.
    Host,
    /// Device USM.
    Device,
    /// Shared USM.
    Shared,
}

impl Context {
    /// `len` zero-initialised elements that the host and every device may use.
    ///
    /// # Errors
    /// The call's.
    pub fn allocate_host<T: Plain>(&self, len: usize) -> Result<HostMemory<T>> {
        HostMemory::new(self, len)
    }

    /// `len` elements for `device`, not addressable by the host. Their content is not defined.
    ///
    /// # Errors
    /// The call's.
    pub fn allocate_device<T: Plain>(
        &self,
        device: &Device,
        len: usize,
    ) -> Result<DeviceMemory<T>> {
        DeviceMemory::new(self, device, len)
    }

    /// `len` zero-initialised elements for `device` and the host.
    ///
    /// # Errors
    /// The call's.
    pub fn allocate_shared<T: Plain>(
        &self,
        device: &Device,
        len: usize,
    ) -> Result<SharedMemory<T>> {
        SharedMemory::new(self, device, len)
    }

    /// The kind of memory that `pointer` (any address, of any byte in an allocation) points into.
    ///
    /// # Errors
    /// The call's.
    pub fn memory_type<T>(&self, pointer: *const T) -> Result<MemoryType> {
        let mut properties = ze_memory_allocation_properties_t::default();
        let get = self.driver().api.mem.pfnGetAllocProperties;
        // SAFETY: live handle, valid output; the pointer is only looked up; the device output may be null.
        let code = get.map(|f| unsafe {
            f(
                self.as_raw(),
                pointer.cast(),
                &raw mut properties,
                std::ptr::null_mut(),
            )
        });
        self.check("zeMemGetAllocProperties", code)?;
        Ok(match properties.r#type {
            ZE_MEMORY_TYPE_HOST => MemoryType::Host,
            ZE_MEMORY_TYPE_DEVICE => MemoryType::Device,
            ZE_MEMORY_TYPE_SHARED => MemoryType::Shared,
            _ => MemoryType::Unknown,
        })
    }
}

/// The common interface of all kinds of memory.
pub trait Allocation<T: Plain> {
    /// Its first byte.
    fn as_ptr(&self) -> *const T;
    /// Its first byte, for writing.
    fn as_mut_ptr(&mut self) -> *mut T;
    /// Elements.
    fn len(&self) -> usize;
    /// Never: an allocation has at least one element.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Bytes.
    fn size_bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }
}

struct Owned {
    context: Context,
    address: *mut std::ffi::c_void,
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(free) = self.context.driver().api.mem.pfnFree {
            // SAFETY: the address came from an allocation in this context and is freed once.
            let _ = unsafe { free(self.context.as_raw(), self.address) };
        }
    }
}

fn bytes_of<T>(len: usize) -> Result<usize> {
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        Some(_) => Err(Error::Argument(
            "an allocation needs at least one element of at least one byte".to_owned(),
        )),
        None => Err(Error::Argument(format!(
            "{len} elements of {} bytes exceed the address space",
            size_of::<T>()
        ))),
    }
}

macro_rules! kind {
    ($(#[$doc:meta])* $name:ident, $host_visible:tt) => {
        $(#[$doc])*
        pub struct $name<T: Plain> {
            owned: Owned,
            len: usize,
            element: PhantomData<T>,
        }
        // SAFETY: USM belongs to no thread; `T` is plain data.
        unsafe impl<T: Plain + Send> Send for $name<T> {}
        // SAFETY: shared references only read plain data.
        unsafe impl<T: Plain + Sync> Sync for $name<T> {}
        impl<T: Plain> Allocation<T> for $name<T> {
            fn as_ptr(&self) -> *const T {
                self.owned.address.cast()
            }
            fn as_mut_ptr(&mut self) -> *mut T {
                self.owned.address.cast()
            }
            fn len(&self) -> usize {
                self.len
            }
        }
        impl<T: Plain> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({:p}, {} elements)"), self.owned.address, self.len)
            }
        }
        kind!(@$host_visible $name);
    };
    (@true $name:ident) => {
        impl<T: Plain> $name<T> {
            /// The elements. No command that writes them may be under way.
            #[must_use]
            pub fn as_slice(&self) -> &[T] {
                // SAFETY: `len` elements were allocated and zeroed; `T` accepts any bytes.
                unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }
            }
            /// The elements, for writing. No command that touches them may be under way.
            #[must_use]
            pub fn as_mut_slice(&mut self) -> &mut [T] {
                // SAFETY: `len` elements were allocated and zeroed; `&mut self` makes the borrow unique on the host.
                unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.len) }
            }
            fn zeroed(owned: Owned, len: usize) -> Self {
                // SAFETY: the allocation holds `len` elements and the host may write it.
                unsafe { owned.address.cast::<T>().write_bytes(0, len) };
                Self { owned, len, element: PhantomData }
            }
        }
    };
    (@false $name:ident) => {};
}
kind!(
    /// Memory of the host that every device may use.
    HostMemory, true
);
kind!(
    /// Memory of one device.
    DeviceMemory, false
);
kind!(
    /// Memory of one device and the host.
    SharedMemory, true
);

impl<T: Plain> HostMemory<T> {
    pub(crate) fn new(context: &Context, len: usize) -> Result<Self> {
        let bytes = bytes_of::<T>(len)?;
        let desc = ze_host_mem_alloc_desc_t::default();
        let mut address = std::ptr::null_mut();
        let allocate = context.driver().api.mem.pfnAllocHost;
        // SAFETY: live handle, valid input and output.
        let code = allocate.map(|f| unsafe {
            f(
                context.as_raw(),
                &raw const desc,
                bytes,
                align_of::<T>(),
                &raw mut address,
            )
        });
        context.check("zeMemAllocHost", code)?;
        Ok(Self::zeroed(
            Owned {
                context: context.clone(),
                address,
            },
            len,
        ))
    }
}

impl<T: Plain> DeviceMemory<T> {
    pub(crate) fn new(context: &Context, device: &Device, len: usize) -> Result<Self> {
        let bytes = bytes_of::<T>(len)?;
        let desc = ze_device_mem_alloc_desc_t::default();
        let mut address = std::ptr::null_mut();
        let allocate = context.driver().api.mem.pfnAllocDevice;
        // SAFETY: live handles, valid input and output.
        let code = allocate.map(|f| unsafe {
            f(
                context.as_raw(),
                &raw const desc,
                bytes,
                align_of::<T>(),
                device.handle,
                &raw mut address,
            )
        });
        context.check("zeMemAllocDevice", code)?;
        Ok(Self {
            owned: Owned {
                context: context.clone(),
                address,
            },
            len,
            element: PhantomData,
        })
    }
}

impl<T: Plain> SharedMemory<T> {
    pub(crate) fn new(context: &Context, device: &Device, len: usize) -> Result<Self> {
        let bytes = bytes_of::<T>(len)?;
        let device_desc = ze_device_mem_alloc_desc_t::default();
        let host_desc = ze_host_mem_alloc_desc_t::default();
        let mut address = std::ptr::null_mut();
        let allocate = context.driver().api.mem.pfnAllocShared;
        // SAFETY: live handles, valid inputs and output.
        let code = allocate.map(|f| unsafe {
            f(
                context.as_raw(),
                &raw const device_desc,
                &raw const host_desc,
                bytes,
                align_of::<T>(),
                device.handle,
                &raw mut address,
            )
        });
        context.check("zeMemAllocShared", code)?;
        Ok(Self::zeroed(
            Owned {
                context: context.clone(),
                address,
            },
            len,
        ))
    }
}
