//! Parameters that come as a count and an array.

use crate::arg::null_pointer;
use crate::{Object, ZeError, ZeResult};
use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZE_RESULT_ERROR_INVALID_SIZE,
    ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
};
use std::ffi::c_char;
use std::marker::PhantomData;

/// Two C parameters that become one value.
pub trait AbiPair: std::marker::Sized {
    /// Type of the first in the C signature.
    type First;
    /// Type of the second in the C signature.
    type Second;
    /// Checks and wraps; `name` is the pair's.
    ///
    /// # Errors
    /// INVALID_NULL_POINTER, INVALID_SIZE and INVALID_NULL_HANDLE, by the kind.
    /// # Safety
    /// Each is null or valid as the specification defines, for as long as the returned value lives.
    unsafe fn from_raw(
        first: Self::First,
        second: Self::Second,
        name: &'static str,
    ) -> ZeResult<Self>;
}

fn array_null(name: &str, count: u32) -> ZeError {
    ZeError::new(
        ZE_RESULT_ERROR_INVALID_SIZE,
        format!("{name} is null, but its count is {count}; 0 is required with a null array"),
    )
}

/// Elements of an array that are checked before memory is allocated for more. A wrong count then runs into an invalid
/// element, or the end of the array, before it exhausts the process's memory. Arrays of real programs are shorter.
const STEP: usize = 1024;

#[cold]
fn no_memory(name: &str, count: usize, size: usize) -> ZeError {
    ZeError::new(
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
        format!("{name}: no memory for {count} elements of {size} bytes"),
    )
}

/// An empty vector with room for `count` elements, a number from the caller.
///
/// # Errors
/// OUT_OF_HOST_MEMORY, where a failed allocation would end the process.
pub fn with_room<T>(name: &str, count: usize) -> ZeResult<Vec<T>> {
    let mut room = Vec::new();
    match room.try_reserve_exact(count) {
        Ok(()) => Ok(room),
        Err(_) => Err(no_memory(name, count, size_of::<T>())),
    }
}

/// A copy of an array of a caller's; `name` is the parameter's.
///
/// # Errors
/// As [`with_room`].
/// # Safety
/// `first` leads to `count` readable elements.
pub unsafe fn copied<T: Copy>(name: &str, first: *const T, count: usize) -> ZeResult<Vec<T>> {
    let mut copy = with_room(name, count)?;
    // SAFETY: readable by this function's contract, and there is room for as many; elements are plain values.
    unsafe {
        std::ptr::copy_nonoverlapping(first, copy.as_mut_ptr(), count);
        copy.set_len(count);
    }
    Ok(copy)
}

/// `uint32_t n, T_handle* array` of handles, none of them null; a null array with 0 only.
#[derive(Debug)]
pub struct Handles<'a, T: Object>(Vec<&'a T>);

impl<'a, T: Object> Handles<'a, T> {
    /// The objects.
    #[must_use]
    pub fn get(&self) -> &[&'a T] {
        &self.0
    }
}

impl<T: Object> AbiPair for Handles<'_, T> {
    type First = u32;
    type Second = *mut *mut T::Opaque;
    unsafe fn from_raw(
        count: u32,
        array: *mut *mut T::Opaque,
        name: &'static str,
    ) -> ZeResult<Self> {
        if count == 0 {
            return Ok(Self(Vec::new()));
        }
        if array.is_null() {
            return Err(array_null(name, count));
        }
        let count = count as usize;
        let mut objects = with_room(name, count.min(STEP))?;
        for step in (0..count).step_by(STEP) {
            let end = count.min(step + STEP);
            if objects.try_reserve(end - step).is_err() {
                return Err(no_memory(name, count, size_of::<&T>()));
            }
            for i in step..end {
                // SAFETY: not null; `count` elements are valid by this function's contract.
                let handle = unsafe { *array.add(i) };
                if handle.is_null() {
                    return Err(ZeError::new(
                        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                        format!("{name}[{i}] is null; a {} handle is required", T::WHAT),
                    ));
                }
                // SAFETY: not null, so a live handle by this function's contract.
                objects.push(unsafe { T::from_handle(handle, name) }?);
            }
        }
        Ok(Self(objects))
    }
}

/// The two-call idiom over elements: `uint32_t* pCount, T* array`.
///
/// With a null array or a count of 0 the number of elements is written; otherwise at most that many elements are
/// filled, and a count that is too large is corrected.
#[derive(Debug)]
pub struct Enumerate<'a, T> {
    count: &'a mut u32,
    array: *mut T,
    marker: PhantomData<&'a mut T>,
}

impl<T> Enumerate<'_, T> {
    /// Whether only the number is requested.
    pub fn asks_how_many(&self) -> bool {
        self.array.is_null() || *self.count == 0
    }
    /// Returns `n` elements; `fill` writes element `i` in place, over the caller's value.
    pub fn fill(self, n: usize, mut fill: impl FnMut(usize, &mut T)) {
        let have = u32::try_from(n).unwrap_or(u32::MAX);
        if self.asks_how_many() {
            *self.count = have;
            return;
        }
        let wanted = (*self.count).min(have);
        *self.count = wanted;
        for i in 0..wanted as usize {
            // SAFETY: the caller's array has at least the caller's count of elements, of plain C types.
            fill(i, unsafe { &mut *self.array.add(i) });
        }
    }
}

impl<T> AbiPair for Enumerate<'_, T> {
    type First = *mut u32;
    type Second = *mut T;
    unsafe fn from_raw(count: *mut u32, array: *mut T, name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_mut`; else valid by this function's contract.
        let count = unsafe { count.as_mut() }.ok_or_else(|| null_pointer(name))?;
        Ok(Self {
            count,
            array,
            marker: PhantomData,
        })
    }
}

/// The two-call idiom over bytes: `size_t* pSize, uint8_t* data`.
#[derive(Debug)]
pub struct Sized<'a> {
    size: &'a mut usize,
    data: *mut u8,
}

impl Sized<'_> {
    /// Returns `bytes`. With null data the size is written; a size that is too small gets a prefix.
    pub fn fill(self, bytes: &[u8]) {
        if self.data.is_null() || *self.size == 0 {
            *self.size = bytes.len();
            return;
        }
        let n = (*self.size).min(bytes.len());
        *self.size = n;
        // SAFETY: the caller's buffer has at least `*size` bytes, `n` is no more, and it does not overlap ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.data, n) };
    }
}

impl AbiPair for Sized<'_> {
    type First = *mut usize;
    type Second = *mut u8;
    unsafe fn from_raw(size: *mut usize, data: *mut u8, name: &'static str) -> ZeResult<Self> {
        // SAFETY: null is handled by `as_mut`; else valid by this function's contract.
        let size = unsafe { size.as_mut() }.ok_or_else(|| null_pointer(name))?;
        Ok(Self { size, data })
    }
}

/// The two-call idiom over a text with its final zero: `size_t* pSize, char* text`.
#[derive(Debug)]
pub struct Text<'a>(Sized<'a>);

impl Text<'_> {
    /// Returns `text` and a terminating zero; a buffer that is too small gets a prefix and the zero.
    pub fn fill(self, text: &str) {
        let Sized { size, data } = self.0;
        if data.is_null() || *size == 0 {
            *size = text.len() + 1;
            return;
        }
        let n = (*size - 1).min(text.len());
        *size = n + 1;
        // SAFETY: the caller's buffer has `*size` bytes at least, `n + 1` is no more.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), data, n) };
        // SAFETY: as above.
        unsafe { data.add(n).write(0) };
    }
}

impl AbiPair for Text<'_> {
    type First = *mut usize;
    type Second = *mut c_char;
    unsafe fn from_raw(size: *mut usize, data: *mut c_char, name: &'static str) -> ZeResult<Self> {
        // SAFETY: forwarded.
        unsafe { Sized::from_raw(size, data.cast(), name) }.map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerate_is_the_two_call_idiom() {
        // (given count, array given, want count, want elements written), three exist
        let cases = [
            (0, false, 3, 0),
            (77, false, 3, 0),
            (0, true, 3, 0),
            (2, true, 2, 2),
            (3, true, 3, 3),
            (5, true, 3, 3),
        ];
        for (given, has_array, want, written) in cases {
            let mut count = given;
            let mut array = [0_u32; 5];
            let pointer = if has_array {
                array.as_mut_ptr()
            } else {
                std::ptr::null_mut()
            };
            // SAFETY: both are null or locals that outlive the value.
            let pair = unsafe { Enumerate::from_raw(&raw mut count, pointer, "pCount") };
            pair.expect("the count is not null")
                .fill(3, |i, slot| *slot = i as u32 + 1);
            assert_eq!(count, want, "given {given} {has_array}");
            let got = array.iter().filter(|v| **v != 0).count();
            assert_eq!(got, written, "given {given} {has_array}");
        }
    }

    #[test]
    fn text_always_ends_with_a_zero() {
        // (given size, want size, want bytes) for "abc"
        let cases: [(usize, usize, &[u8]); 4] = [
            (4, 4, b"abc\0###"),
            (9, 4, b"abc\0###"),
            (2, 2, b"a\0#####"),
            (0, 4, b"#######"),
        ];
        for (given, want, bytes) in cases {
            let (mut size, mut data) = (given, *b"#######");
            // SAFETY: locals that outlive the value; no more than 4 bytes are written.
            let pair = unsafe { Text::from_raw(&raw mut size, data.as_mut_ptr().cast(), "pSize") };
            pair.expect("the size is not null").fill("abc");
            assert_eq!((size, &data[..]), (want, bytes), "given {given}");
        }
    }
}
