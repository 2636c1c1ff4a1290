//! Single parameters.

use crate::{ZeError, ZeResult};
use level_zero_sys::{ZE_RESULT_ERROR_INVALID_NULL_POINTER, *};
use std::ops::{Deref, DerefMut};

/// One kind of C parameter and the safe value it becomes.
pub trait AbiArg: Sized {
    /// The type in the C signature.
    type Raw;

    /// Reports a null handle; runs for all parameters before any is converted.
    ///
    /// # Errors
    /// INVALID_NULL_HANDLE.
    fn check_handle(_raw: &Self::Raw, _name: &'static str) -> ZeResult {
        Ok(())
    }

    /// Sets an output to its value for a failed call; called for all parameters before any check.
    ///
    /// # Safety
    /// As for [`Self::from_raw`].
    #[inline(always)]
    unsafe fn clear(_raw: &Self::Raw) {}

    /// Checks everything that needs no trust in the caller, then wraps.
    ///
    /// # Errors
    /// The specification's code for a null value of this kind.
    /// # Safety
    /// `raw` is null or valid as the specification defines for this parameter, for as long as the returned
    /// value lives.
    unsafe fn from_raw(raw: Self::Raw, name: &'static str) -> ZeResult<Self>;
}

pub(crate) fn null_pointer(name: &str) -> ZeError {
    ZeError::new(
        ZE_RESULT_ERROR_INVALID_NULL_POINTER,
        format!("{name} is null, a pointer is required"),
    )
}

/// `const T*` that must not be null.
#[derive(Debug)]
pub struct In<'a, T>(&'a T);

impl<T> Deref for In<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> AbiArg for In<'_, T> {
    type Raw = *const T;
    unsafe fn from_raw(raw: *const T, name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_ref`; a non-null pointer is valid by this function's contract.
        let value = unsafe { raw.as_ref() };
        value.map(Self).ok_or_else(|| null_pointer(name))
    }
}

/// `T*` that is read only and must not be null.
#[derive(Debug)]
pub struct InMut<'a, T>(&'a T);

impl<T> Deref for InMut<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> AbiArg for InMut<'_, T> {
    type Raw = *mut T;
    unsafe fn from_raw(raw: *mut T, name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_ref`; a non-null pointer is valid by this function's contract.
        let value = unsafe { raw.as_ref() };
        value.map(Self).ok_or_else(|| null_pointer(name))
    }
}

/// `const T*` that may be null.
#[derive(Debug)]
pub struct OptIn<'a, T>(pub Option<&'a T>);

impl<T> AbiArg for OptIn<'_, T> {
    type Raw = *const T;
    unsafe fn from_raw(raw: *const T, _name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_ref`; a non-null pointer is valid by this function's contract.
        Ok(Self(unsafe { raw.as_ref() }))
    }
}

/// `T*` written once on success; C may leave the target uninitialised, so it is never read.
#[derive(Debug)]
pub struct Out<'a, T>(&'a mut std::mem::MaybeUninit<T>);

impl<T> Out<'_, T> {
    /// Stores the result.
    pub fn write(self, value: T) {
        self.0.write(value);
    }
}

impl<T> AbiArg for Out<'_, T> {
    type Raw = *mut T;
    unsafe fn from_raw(raw: *mut T, name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_mut`; a non-null pointer is valid for writes by this function's
        // contract, and `MaybeUninit` asks nothing of the old bytes.
        let slot = unsafe { raw.cast::<std::mem::MaybeUninit<T>>().as_mut() };
        slot.map(Self).ok_or_else(|| null_pointer(name))
    }
}

/// `T*` for an optional output.
#[derive(Debug)]
pub struct OptOut<'a, T>(Option<&'a mut std::mem::MaybeUninit<T>>);

impl<T> OptOut<'_, T> {
    /// Stores the result, if requested.
    pub fn write(self, value: T) {
        if let Some(slot) = self.0 {
            slot.write(value);
        }
    }

    /// Whether the caller requested the result.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }
}

impl<T> AbiArg for OptOut<'_, T> {
    type Raw = *mut T;
    unsafe fn from_raw(raw: *mut T, _name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_mut`; a non-null pointer is valid for writes by contract.
        Ok(Self(unsafe {
            raw.cast::<std::mem::MaybeUninit<T>>().as_mut()
        }))
    }
}

/// `T**` for a new handle. It is set to null if the call fails, so that programs do not use an uninitialised value.
#[derive(Debug)]
pub struct OutHandle<'a, T>(Out<'a, *mut T>);

impl<T> OutHandle<'_, T> {
    /// Stores the handle.
    pub fn write(self, handle: *mut T) {
        self.0.write(handle);
    }
}

impl<T> AbiArg for OutHandle<'_, T> {
    type Raw = *mut *mut T;
    #[inline(always)]
    unsafe fn clear(raw: &Self::Raw) {
        // SAFETY: the caller's promise is the same.
        unsafe { OptOutHandle::clear(raw) };
    }
    unsafe fn from_raw(raw: Self::Raw, name: &'static str) -> ZeResult<Self> {
        // SAFETY: the caller's promise is the same.
        unsafe { Out::from_raw(raw, name) }.map(Self)
    }
}

/// `T**` for an optional handle. It is set to null if the call fails for any reason, because programs read it then.
#[derive(Debug)]
pub struct OptOutHandle<'a, T>(OptOut<'a, *mut T>);

impl<T> OptOutHandle<'_, T> {
    /// Stores the handle, if requested.
    pub fn write(self, handle: *mut T) {
        self.0.write(handle);
    }

    /// Whether the caller requested the handle.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.is_wanted()
    }
}

impl<T> AbiArg for OptOutHandle<'_, T> {
    type Raw = *mut *mut T;
    #[inline(always)]
    unsafe fn clear(raw: &Self::Raw) {
        if !raw.is_null() {
            // SAFETY: not null, so valid for writes by contract.
            unsafe { raw.write(std::ptr::null_mut()) };
        }
    }
    unsafe fn from_raw(raw: Self::Raw, name: &'static str) -> ZeResult<Self> {
        // SAFETY: the caller's promise is the same.
        unsafe { OptOut::from_raw(raw, name) }.map(Self)
    }
}

/// A properties struct: the caller has set `stype` and `pNext`, the driver fills the rest in place.
#[derive(Debug)]
pub struct Prop<'a, T>(&'a mut T);

impl<T> Deref for Prop<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> DerefMut for Prop<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}

impl<T> AbiArg for Prop<'_, T> {
    type Raw = *mut T;
    unsafe fn from_raw(raw: *mut T, name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_mut`; a non-null pointer is valid for reads and writes by contract.
        let value = unsafe { raw.as_mut() };
        value.map(Self).ok_or_else(|| null_pointer(name))
    }
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {$(
        impl AbiArg for $ty {
            type Raw = $ty;
            unsafe fn from_raw(raw: $ty, _name: &'static str) -> ZeResult<Self> {
                Ok(raw)
            }
        }
    )*};
}

plain!(
    u8,
    u32,
    u64,
    usize,
    i32,
    ze_memory_advice_t,
    ze_memory_access_attribute_t,
    ze_cache_ext_region_t,
    ze_group_count_t,
    ze_group_size_t,
    ze_ipc_mem_handle_t,
    ze_ipc_event_pool_handle_t,
    ze_ipc_event_counter_based_handle_t,
    ze_host_function_callback_t,
    zes_uuid_t,
    zes_ras_error_category_exp_t,
    zet_metric_group_calculation_type_t,
    zet_module_debug_info_format_t,
    ze_rtas_format_ext_t,
    ze_rtas_format_exp_t,
);

/// Raw: an address that the driver does not read in this call, or that the body checks.
impl<T> AbiArg for *const T {
    type Raw = *const T;
    unsafe fn from_raw(raw: Self, _name: &'static str) -> ZeResult<Self> {
        Ok(raw)
    }
}

/// Raw: an address that the driver does not read in this call, or that the body checks.
impl<T> AbiArg for *mut T {
    type Raw = *mut T;
    unsafe fn from_raw(raw: Self, _name: &'static str) -> ZeResult<Self> {
        Ok(raw)
    }
}
