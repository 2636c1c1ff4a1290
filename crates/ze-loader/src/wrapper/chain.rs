//! Descriptors with handles, in the struct or in its `pNext` chain.
//!
//! A chain without handles, which is the usual case, is passed to the driver unchanged. Otherwise the structs up to the
//! last one with a handle are copied, because the application's are constant.

use std::ffi::c_void;

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ze_base_desc_t,
    ze_result_t,
};

use super::arguments::{Call, Name, aligned_word};
use super::of;
use crate::generated::legacy_facts::{HANDLES_IN_STRUCTS, SIZES, VALUES_IN_STRUCTS};
use crate::text;

/// Longer chains are treated as cycles.
const LONGEST: usize = 256;

/// The copies for one call, which must outlive it.
#[derive(Default)]
pub(crate) struct Chain {
    copies: Vec<Vec<u64>>,
}

fn holder(stype: u32) -> bool {
    HANDLES_IN_STRUCTS.iter().any(|entry| entry.stype == stype)
        || VALUES_IN_STRUCTS.iter().any(|entry| entry.stype == stype)
}

impl Call {
    /// Unwraps the handles of a descriptor and its chain.
    ///
    /// # Errors
    /// As for single handles; INVALID_ARGUMENT for a chain without an end; UNSUPPORTED_FEATURE if a struct of unknown
    /// size comes before one with a handle.
    ///
    /// # Safety
    /// `first` is null or begins with `stype` and `pNext`, and so do all structs in its chain.
    #[inline]
    pub(crate) unsafe fn chain<T>(
        self,
        argument: Name,
        first: *const T,
        copies: &mut Chain,
    ) -> Result<*const T, ze_result_t> {
        let mut link = first.cast::<ze_base_desc_t>();
        let (mut length, mut needed) = (0, 0);
        while !link.is_null() {
            length += 1;
            if length > LONGEST {
                text::set(format_args!(
                    "{}: the pNext chain of {argument} has more than {LONGEST} structs, or is a cycle",
                    self.name
                ));
                return Err(ZE_RESULT_ERROR_INVALID_ARGUMENT);
            }
            // SAFETY: non-null links of the chain, by the caller's contract.
            unsafe {
                if holder((*link).stype.0) {
                    needed = length;
                }
                link = (*link).pNext.cast();
            }
        }
        if needed == 0 {
            return Ok(first);
        }
        // SAFETY: as above.
        unsafe { self.copy(argument, first.cast(), needed, copies) }.map(|copy| copy.cast())
    }

    /// # Safety
    /// As [`Call::chain`]; the chain has at least `needed` structs.
    #[cold]
    unsafe fn copy(
        self,
        argument: Name,
        first: *const ze_base_desc_t,
        needed: usize,
        copies: &mut Chain,
    ) -> Result<*const ze_base_desc_t, ze_result_t> {
        let mut link = first;
        let mut head: *const ze_base_desc_t = std::ptr::null();
        let mut last: *mut ze_base_desc_t = std::ptr::null_mut();
        for _ in 0..needed {
            // SAFETY: a struct of the chain; its type says its size.
            let copy = unsafe {
                let stype = (*link).stype.0;
                let Ok(place) = SIZES.binary_search_by_key(&stype, |(stype, _)| *stype) else {
                    text::set(format_args!(
                        "{}: the pNext chain of {argument} has a struct of unknown type {stype:#x} before one with a handle; \
                         move it after that one",
                        self.name
                    ));
                    return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
                };
                let size = SIZES[place].1;
                let mut copy = vec![0_u64; size.div_ceil(8)];
                std::ptr::copy_nonoverlapping(link.cast::<u8>(), copy.as_mut_ptr().cast(), size);
                copies.copies.push(copy);
                copies
                    .copies
                    .last_mut()
                    .map_or(std::ptr::null_mut(), |copy| copy.as_mut_ptr())
            };
            // SAFETY: the copy is as large as its type says, and offsets lie inside.
            unsafe {
                self.translate(copy.cast(), copies)?;
                let copy = copy.cast::<ze_base_desc_t>();
                link = (*copy).pNext.cast();
                if last.is_null() {
                    head = copy;
                } else {
                    (*last).pNext = copy.cast_const().cast();
                }
                last = copy;
            }
        }
        Ok(head)
    }

    /// # Safety
    /// `copy` is a struct of its type.
    unsafe fn translate(self, copy: *mut u8, copies: &mut Chain) -> Result<(), ze_result_t> {
        // SAFETY: guaranteed by the caller; offsets are those of the struct's type.
        unsafe {
            let stype = copy.cast::<u32>().read();
            for entry in HANDLES_IN_STRUCTS
                .iter()
                .filter(|entry| entry.stype == stype)
            {
                let place = copy.add(entry.offset).cast::<*mut c_void>();
                *place = self.required(&"a handle in the descriptor", entry.kind, *place)?;
            }
            for entry in VALUES_IN_STRUCTS
                .iter()
                .filter(|entry| entry.stype == stype)
            {
                let place = copy.add(entry.value).cast::<*const c_void>();
                let size = match entry.size {
                    Some(offset) => copy.add(offset).cast::<usize>().read(),
                    None if aligned_word(*place).is_some_and(|word| of(word).is_some()) => {
                        size_of::<usize>()
                    }
                    None => 0,
                };
                let mut native = std::ptr::null_mut();
                if self.kernel_argument(size, *place, &mut native)? != *place {
                    copies.copies.push(vec![native.expose_provenance() as u64]);
                    if let Some(value) = copies.copies.last() {
                        *place = value.as_ptr().cast();
                    }
                }
            }
        }
        Ok(())
    }
}
