//! Unwraps arguments for a wrapped driver, and wraps its results.
//!
//! `legacy_functions` uses these. Each error names the function, the argument and the value.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, ZE_RESULT_SUCCESS,
    ze_kernel_handle_t, ze_kernel_properties_t, ze_result_t,
};

use super::{Kind, Origin, Release, Wrapper, begin_release, end_release, of, wrap};
use crate::generated::legacy_facts::{IMAGE, KINDS, SAMPLER};
use crate::legacy_driver::LegacyDriver;
use crate::refusals::{null_handle, null_slot, too_old};
use crate::text;

/// A name in the text of an error, behind one thin pointer.
pub(crate) type Name = &'static &'static str;

/// One call of a wrapped driver.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) name: Name,
    pub(crate) driver: &'static LegacyDriver,
}

/// The wrapper of the argument that decides which driver is called.
///
/// # Errors
/// INVALID_NULL_HANDLE; INVALID_ARGUMENT for anything but a live handle of this type.
#[inline(always)]
pub(crate) fn deciding<T>(
    name: Name,
    argument: Name,
    kind: Kind,
    handle: *mut T,
) -> Result<(Call, &'static Wrapper), ze_result_t> {
    match of(handle) {
        Some(wrapper) if wrapper.is(kind) => Ok((
            Call {
                name,
                driver: wrapper.driver(),
            },
            wrapper,
        )),
        _ => Err(refused(name, argument, kind, handle.cast(), None)),
    }
}

/// Sets the text that explains why a handle is rejected.
#[cold]
#[inline(never)]
fn refused(
    name: Name,
    argument: Name,
    kind: Kind,
    handle: *mut c_void,
    driver: Option<&'static LegacyDriver>,
) -> ze_result_t {
    if handle.is_null() {
        return null_handle(name, argument);
    }
    let wanted = KINDS.get(usize::from(kind)).copied().unwrap_or("?");
    match of(handle) {
        Some(wrapper) if !wrapper.is_live() => text::set(format_args!(
            "{name}: {argument} ({handle:p}) was destroyed; pass a live {wanted}"
        )),
        Some(wrapper) if !wrapper.is(kind) => text::set(format_args!(
            "{name}: {argument} ({handle:p}) is a {}; pass a {wanted}",
            KINDS
                .get(usize::from(wrapper.kind()))
                .copied()
                .unwrap_or("?")
        )),
        Some(wrapper) => text::set(format_args!(
            "{name}: {argument} ({handle:p}) belongs to {}, but the call goes to {}",
            wrapper.driver().name,
            driver.map_or("another driver", |driver| &driver.name)
        )),
        None => unknown(name, argument, handle),
    }
    ZE_RESULT_ERROR_INVALID_ARGUMENT
}

/// The text about a handle that this loader has not returned.
#[cold]
#[inline(never)]
fn unknown(name: Name, argument: Name, handle: *mut c_void) {
    text::set(format_args!(
        "{name}: {argument} ({handle:p}) was not returned by this loader; an object that a legacy driver created by itself \
         (through an extension function) works only in that driver's own functions"
    ));
}

/// The result of a call whose handle belongs to no driver.
#[cold]
#[inline(never)]
pub(crate) extern "C" fn foreign(name: Name, argument: Name, handle: *mut c_void) -> ze_result_t {
    unknown(name, argument, handle);
    ZE_RESULT_ERROR_INVALID_ARGUMENT
}

/// The result of a call whose slot is missing in the driver's tables.
#[cold]
#[inline(never)]
pub(crate) fn missing(call: Call, since: u32) -> ze_result_t {
    if call.driver.version < since {
        too_old(call.name, call.driver.version, since)
    } else {
        null_slot(call.name)
    }
}

impl Call {
    /// Unwraps a required handle.
    ///
    /// # Errors
    /// As [`deciding`]; also for handles of another driver.
    #[inline(always)]
    pub(crate) fn required<T>(
        self,
        argument: Name,
        kind: Kind,
        handle: *mut T,
    ) -> Result<*mut T, ze_result_t> {
        Ok(self.wrapper(argument, kind, handle)?.native())
    }

    /// Unwraps a handle that may be null.
    ///
    /// # Errors
    /// As [`Call::required`].
    #[inline(always)]
    pub(crate) fn optional<T>(
        self,
        argument: Name,
        kind: Kind,
        handle: *mut T,
    ) -> Result<*mut T, ze_result_t> {
        if handle.is_null() {
            Ok(handle)
        } else {
            self.required(argument, kind, handle)
        }
    }

    #[inline(always)]
    pub(crate) fn wrapper<T>(
        self,
        argument: Name,
        kind: Kind,
        handle: *mut T,
    ) -> Result<&'static Wrapper, ze_result_t> {
        match of(handle) {
            Some(wrapper) if wrapper.is(kind) && std::ptr::eq(wrapper.driver(), self.driver) => {
                Ok(wrapper)
            }
            _ => Err(refused(
                self.name,
                argument,
                kind,
                handle.cast(),
                Some(self.driver),
            )),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn no_memory(self) -> ze_result_t {
        text::set(format_args!(
            "{}: the loader cannot allocate memory for wrapping handles",
            self.name
        ));
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
    }

    /// Wraps a driver's handle for the application.
    ///
    /// # Errors
    /// OUT_OF_HOST_MEMORY.
    pub(crate) fn wrapped<T>(
        self,
        kind: Kind,
        native: *mut T,
        origin: Origin,
    ) -> Result<*mut T, ze_result_t> {
        wrap(self.driver, kind, native, origin).ok_or_else(|| self.no_memory())
    }

    /// Unwraps an array of handles; a null array stays null, elements must not be null.
    ///
    /// # Errors
    /// As [`Call::required`], and OUT_OF_HOST_MEMORY.
    ///
    /// # Safety
    /// `handles` is null or has `count` readable elements.
    #[inline]
    pub(crate) unsafe fn array<T>(
        self,
        argument: Name,
        kind: Kind,
        count: u32,
        handles: *mut *mut T,
        buffer: &mut Buffer<T>,
    ) -> Result<*mut *mut T, ze_result_t> {
        if handles.is_null() || count == 0 {
            return Ok(handles);
        }
        let Some(room) = buffer.room(count as usize) else {
            return Err(self.no_memory());
        };
        for index in 0..count as usize {
            // SAFETY: `count` elements are readable by the caller's contract, and the output has room for as many.
            unsafe {
                let native = self.required(argument, kind, *handles.add(index))?;
                room.add(index).write(native);
            }
        }
        Ok(room)
    }

    /// Wraps the handles that a driver has written to an array of the application, in place.
    ///
    /// # Safety
    /// `handles` is null or has `count` elements that hold the driver's handles.
    pub(crate) unsafe fn returned<T>(
        self,
        result: ze_result_t,
        kind: Kind,
        origin: Origin,
        count: u32,
        handles: *mut *mut T,
    ) -> ze_result_t {
        if result != ZE_RESULT_SUCCESS || handles.is_null() {
            return result;
        }
        for index in 0..count as usize {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let place = handles.add(index);
                match self.wrapped(kind, *place, origin) {
                    Ok(handle) => *place = handle,
                    Err(error) => return error,
                }
            }
        }
        result
    }

    /// Sets a kernel argument whose value is a wrapped handle.
    ///
    /// # Safety
    /// `function` is the driver's, `kernel` its handle; `value` points to eight readable bytes.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn hidden_argument(
        self,
        function: SetArgument,
        kernel: ze_kernel_handle_t,
        index: u32,
        value: *const c_void,
    ) -> ze_result_t {
        let mut native = std::ptr::null_mut();
        let size = size_of::<*mut c_void>();
        // SAFETY: guaranteed by the caller.
        match unsafe { self.kernel_argument(size, value, &mut native) } {
            // SAFETY: as above; the value is the caller's or lies in this frame.
            Ok(value) => unsafe { function(kernel, index, size, value) },
            Err(error) => error,
        }
    }

    /// The value of a kernel argument; a wrapped handle of an image or a sampler is unwrapped.
    ///
    /// # Safety
    /// `value` is null or points to `size` readable bytes.
    #[inline(always)]
    pub(crate) unsafe fn kernel_argument(
        self,
        size: usize,
        value: *const c_void,
        place: &mut *mut c_void,
    ) -> Result<*const c_void, ze_result_t> {
        // SAFETY: guaranteed by the caller.
        if !unsafe { hides_wrapper(size, value) } {
            return Ok(value);
        }
        // SAFETY: eight bytes are readable by the caller's contract; they may be unaligned.
        let word = unsafe { value.cast::<*mut c_void>().read_unaligned() };
        *place = self.image_or_sampler(word)?;
        Ok(std::ptr::from_mut(place).cast_const().cast())
    }

    #[inline(never)]
    fn image_or_sampler(self, word: *mut c_void) -> Result<*mut c_void, ze_result_t> {
        let kind = if of(word).is_some_and(|wrapper| wrapper.is(SAMPLER)) {
            SAMPLER
        } else {
            IMAGE
        };
        self.required(&"pArgValue", kind, word)
    }

    /// The arguments of a kernel without sizes: a value that is aligned like a handle is treated as one.
    ///
    /// # Safety
    /// `kernel` is the driver's handle; `arguments` is null or has one element for each argument of the kernel, each
    /// null or a pointer to its value.
    pub(crate) unsafe fn kernel_arguments(
        self,
        kernel: ze_kernel_handle_t,
        arguments: *mut *mut c_void,
        copies: &mut Arguments,
    ) -> Result<*mut *mut c_void, ze_result_t> {
        let Some(get) = self
            .driver
            .tables
            .ze
            .Kernel
            .pfnGetProperties
            .filter(|_| !arguments.is_null())
        else {
            return Ok(arguments);
        };
        let mut properties = ze_kernel_properties_t::default();
        // SAFETY: the driver's own kernel and our struct.
        let result = unsafe { get(kernel, &raw mut properties) };
        if result != ZE_RESULT_SUCCESS {
            return Err(result);
        }
        let count = properties.numKernelArgs as usize;
        let mut found = Vec::new();
        for index in 0..count {
            // SAFETY: one element for each argument of the kernel, by the caller's contract.
            let value = unsafe { *arguments.add(index) };
            // SAFETY: null or a pointer to a value, by the caller's contract.
            if let Some(word) = unsafe { aligned_word(value) }
                && of(word).is_some()
            {
                found.push((index, self.image_or_sampler(word)?));
            }
        }
        if found.is_empty() {
            return Ok(arguments);
        }
        // SAFETY: as above.
        copies.pointers = unsafe { std::slice::from_raw_parts(arguments, count) }.to_vec();
        copies.handles = found.iter().map(|(_, native)| *native).collect();
        for ((index, _), place) in found.iter().zip(&mut copies.handles) {
            copies.pointers[*index] = std::ptr::from_mut(place).cast();
        }
        Ok(copies.pointers.as_mut_ptr())
    }

    /// Calls a function that destroys an object.
    pub(crate) fn release(
        self,
        wrapper: &'static Wrapper,
        destroy: impl FnOnce() -> ze_result_t,
    ) -> ze_result_t {
        let release = begin_release(wrapper);
        if release == Release::Busy {
            text::set(format_args!(
                "{}: another thread is destroying the object, or has just destroyed it",
                self.name
            ));
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        }
        let result = destroy();
        end_release(wrapper, release, result == ZE_RESULT_SUCCESS);
        result
    }
}

/// The driver's function for `zeKernelSetArgumentValue`.
type SetArgument =
    unsafe extern "C" fn(ze_kernel_handle_t, u32, usize, *const c_void) -> ze_result_t;

/// Whether the value of a kernel argument is a wrapped handle.
///
/// # Safety
/// `value` is null or points to `size` readable bytes.
#[inline(always)]
pub(crate) unsafe fn hides_wrapper(size: usize, value: *const c_void) -> bool {
    size == size_of::<*mut c_void>()
        && !value.is_null()
        // SAFETY: eight bytes are readable by the caller's contract; they may be unaligned.
        && of(unsafe { value.cast::<*mut c_void>().read_unaligned() }).is_some()
}

/// Eight bytes aligned to eight: they are in one page, so reading them cannot fault if the first may be read.
///
/// # Safety
/// `value` is null or points to at least one readable byte.
pub(super) unsafe fn aligned_word(value: *const c_void) -> Option<*mut c_void> {
    let word = value.cast::<*mut c_void>();
    // SAFETY: aligned, so within the page of the first byte; volatile, as the length of the object is not known.
    (!word.is_null() && word.is_aligned()).then(|| unsafe { word.read_volatile() })
}

/// Memory for the handles of an array.
pub(crate) struct Buffer<T> {
    few: [MaybeUninit<*mut T>; 16],
    many: Vec<*mut T>,
}

impl<T> Buffer<T> {
    #[inline(always)]
    pub(crate) fn new() -> Buffer<T> {
        Buffer {
            few: [const { MaybeUninit::uninit() }; 16],
            many: Vec::new(),
        }
    }

    fn room(&mut self, count: usize) -> Option<*mut *mut T> {
        if count <= self.few.len() {
            return Some(self.few.as_mut_ptr().cast());
        }
        self.many.try_reserve_exact(count).ok()?;
        Some(self.many.as_mut_ptr())
    }
}

/// Copies of a kernel's arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    pointers: Vec<*mut c_void>,
    handles: Vec<*mut c_void>,
}

/// The output of one handle: a local variable, so that the application never sees the driver's handle.
pub(crate) struct Output<T> {
    place: *mut *mut T,
    native: *mut T,
}

/// The output's value before the call: the address of this byte, which is never a driver's handle.
static UNTOUCHED: u8 = 0;

impl<T> Output<T> {
    #[inline(always)]
    pub(crate) fn new(place: *mut *mut T) -> Output<T> {
        Output {
            place,
            native: (&raw const UNTOUCHED).cast_mut().cast(),
        }
    }

    /// The driver's argument: null if the application's is null.
    #[inline(always)]
    pub(crate) fn native(&mut self) -> *mut *mut T {
        if self.place.is_null() {
            std::ptr::null_mut()
        } else {
            &raw mut self.native
        }
    }

    /// Wraps the handle that the driver has written, even after an error (a failed build returns a log).
    ///
    /// # Safety
    /// The output is null or writable.
    pub(crate) unsafe fn finish(
        self,
        call: Call,
        result: ze_result_t,
        kind: Kind,
        origin: Origin,
    ) -> ze_result_t {
        let written = !std::ptr::eq(self.native.cast_const().cast(), &raw const UNTOUCHED);
        if self.place.is_null() || !written {
            return result;
        }
        match call.wrapped(kind, self.native, origin) {
            Ok(handle) => {
                // SAFETY: non-null, and writable by the caller's contract.
                unsafe { self.place.write(handle) };
                result
            }
            Err(error) => error,
        }
    }
}

/// The number of elements that a driver has filled: the smaller of the capacity before and the count after.
///
/// # Safety
/// `count` is null or readable.
pub(crate) unsafe fn filled(room: u32, count: *mut u32) -> u32 {
    if count.is_null() {
        return 0;
    }
    // SAFETY: non-null, and readable by the caller's contract.
    unsafe { *count }.min(room)
}

/// The capacity that an application has announced.
///
/// # Safety
/// `count` is null or readable.
pub(crate) unsafe fn room<T>(count: *mut u32, array: *mut *mut T) -> u32 {
    if count.is_null() || array.is_null() {
        return 0;
    }
    // SAFETY: non-null, and readable by the caller's contract.
    unsafe { *count }
}
