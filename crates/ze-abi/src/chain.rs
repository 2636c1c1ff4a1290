//! `pNext` chains.

use level_zero_sys::{ze_base_desc_t, ze_base_properties_t, ze_structure_type_t};
use std::ffi::c_void;
use std::marker::PhantomData;

/// Structs walked in one chain at most: a cycle must not hang the client.
pub const MAX_CHAIN: usize = 64;

/// The structs hanging on a descriptor, in order; unknown ones are for the caller to skip.
#[derive(Debug)]
pub struct Chain<'a> {
    next: *const ze_base_desc_t,
    left: usize,
    marker: PhantomData<&'a ze_base_desc_t>,
}

impl Chain<'_> {
    /// # Safety
    /// `next` is null or the head of a chain of structs that begin with `stype` and `pNext`, valid for `'a`.
    #[must_use]
    pub unsafe fn new(next: *const c_void) -> Self {
        Self {
            next: next.cast(),
            left: MAX_CHAIN,
            marker: PhantomData,
        }
    }
}

impl<'a> Iterator for Chain<'a> {
    type Item = Link<'a>;
    fn next(&mut self) -> Option<Link<'a>> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: null is handled by `as_ref`; else valid by the contract of `new`.
        let base = unsafe { self.next.as_ref() }?;
        let link = Link {
            stype: base.stype,
            at: self.next.cast(),
            marker: PhantomData,
        };
        self.next = base.pNext.cast();
        Some(link)
    }
}

/// One struct of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Its type.
    pub stype: ze_structure_type_t,
    at: *const c_void,
    marker: PhantomData<&'a c_void>,
}

impl<'a> Link<'a> {
    /// The struct.
    ///
    /// # Safety
    /// `T` is the struct whose type is `stype`.
    #[must_use]
    pub unsafe fn get<T>(self) -> &'a T {
        // SAFETY: the chain's structs are valid for `'a`, and the caller vouches for the type.
        unsafe { &*self.at.cast::<T>() }
    }
}

/// The structs hanging on a properties struct, to be filled.
#[derive(Debug)]
pub struct ChainMut<'a> {
    next: *mut ze_base_properties_t,
    left: usize,
    marker: PhantomData<&'a mut ze_base_properties_t>,
}

impl ChainMut<'_> {
    /// # Safety
    /// As for [`Chain::new`], and the structs may be written.
    #[must_use]
    pub unsafe fn new(next: *mut c_void) -> Self {
        Self {
            next: next.cast(),
            left: MAX_CHAIN,
            marker: PhantomData,
        }
    }

    /// The chain of a properties struct of type `own`; empty if `found` is another type: the program has not
    /// initialised the struct, and its `pNext` is undefined. Zero is accepted, because some programs only clear the
    /// struct.
    ///
    /// # Safety
    /// As for [`ChainMut::new`], if `found` is `own` or zero.
    #[must_use]
    pub unsafe fn behind(
        own: ze_structure_type_t,
        found: ze_structure_type_t,
        next: *mut c_void,
    ) -> Self {
        let is_set = found == own || found.0 == 0;
        let next = if is_set { next } else { std::ptr::null_mut() };
        // SAFETY: null, or valid by this function's contract.
        unsafe { Self::new(next) }
    }
}

impl<'a> Iterator for ChainMut<'a> {
    type Item = LinkMut<'a>;
    fn next(&mut self) -> Option<LinkMut<'a>> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: null is handled by `as_ref`; else valid by the contract of `new`.
        let base = unsafe { self.next.as_ref() }?;
        let link = LinkMut {
            stype: base.stype,
            at: self.next.cast(),
            marker: PhantomData,
        };
        self.next = base.pNext.cast();
        Some(link)
    }
}

/// One struct of a chain, to be filled.
#[derive(Debug)]
pub struct LinkMut<'a> {
    /// Its type.
    pub stype: ze_structure_type_t,
    at: *mut c_void,
    marker: PhantomData<&'a mut c_void>,
}

impl<'a> LinkMut<'a> {
    /// The struct.
    ///
    /// # Safety
    /// `T` is the struct whose type is `stype`.
    #[must_use]
    pub unsafe fn get<T>(self) -> &'a mut T {
        // SAFETY: the chain's structs are valid for `'a`, and the caller vouches for the type.
        unsafe { &mut *self.at.cast::<T>() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use level_zero_sys::{
        ZE_STRUCTURE_TYPE_CONTEXT_DESC, ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES,
        ZE_STRUCTURE_TYPE_FENCE_DESC,
    };

    #[test]
    fn a_cyclic_chain_ends_too() {
        let mut first = ze_base_desc_t {
            stype: ZE_STRUCTURE_TYPE_CONTEXT_DESC,
            pNext: std::ptr::null(),
        };
        let second = ze_base_desc_t {
            stype: ZE_STRUCTURE_TYPE_FENCE_DESC,
            pNext: std::ptr::null(),
        };
        first.pNext = (&raw const second).cast();
        // SAFETY: both structs outlive the iterator.
        let seen: Vec<_> = unsafe { Chain::new((&raw const first).cast()) }
            .map(|link| link.stype)
            .collect();
        assert_eq!(
            seen,
            [ZE_STRUCTURE_TYPE_CONTEXT_DESC, ZE_STRUCTURE_TYPE_FENCE_DESC]
        );
        let cycle = &raw mut first;
        // SAFETY: `first` is a live local.
        unsafe { (*cycle).pNext = cycle.cast() };
        // SAFETY: the struct outlives the iterator.
        let n = unsafe { Chain::new(cycle.cast()) }.count();
        assert_eq!(n, MAX_CHAIN);
    }

    #[test]
    fn no_chain_hangs_on_a_struct_that_was_never_initialised() {
        let own = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
        let mut link = ze_base_properties_t {
            stype: ZE_STRUCTURE_TYPE_CONTEXT_DESC,
            pNext: std::ptr::null_mut(),
        };
        for (found, links) in [
            (own, 1),
            (ze_structure_type_t(0), 1),
            (ZE_STRUCTURE_TYPE_FENCE_DESC, 0),
            (ze_structure_type_t(0x333c_4d40), 0),
        ] {
            // SAFETY: the struct outlives the iterator.
            let chain = unsafe { ChainMut::behind(own, found, (&raw mut link).cast()) };
            assert_eq!(chain.count(), links, "{found:?}");
            let stack = std::ptr::without_provenance_mut(0x0040_0000_0041_0000);
            if links == 0 {
                // SAFETY: the type is another, so the address is not used.
                assert_eq!(unsafe { ChainMut::behind(own, found, stack) }.count(), 0);
            }
        }
    }
}
