//! Handles: addresses of reference-counted objects that begin with the DDI header.

use crate::object_watcher::tell;
use crate::{AbiArg, ZeError, ZeResult};
use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ze_dditable_driver_t,
    ze_handle_t, zer_dditable_driver_t, zes_dditable_driver_t, zet_dditable_driver_t,
};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const _: () = assert!(size_of::<ze_handle_t>() == 32);

/// The tables that handles of one driver point to.
#[derive(Clone, Copy)]
pub struct Tables {
    /// Core; its sub-tables may be exchanged for others, each complete and static.
    pub core: *mut ze_dditable_driver_t,
    /// Tools.
    pub tools: &'static zet_dditable_driver_t,
    /// Sysman.
    pub sysman: &'static zes_dditable_driver_t,
    /// Runtime.
    pub runtime: &'static zer_dditable_driver_t,
}

/// First words of every object: the DDI header, then the type's tag.
#[repr(C)]
pub struct Head {
    ddi: ze_handle_t,
    tag: AtomicU32,
}

// SAFETY: the four tables are static, and written by atomics if at all; the tag is atomic.
unsafe impl Send for Head {}
// SAFETY: as for `Send`; nothing is ever written through the table pointers.
unsafe impl Sync for Head {}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({:#x})", self.tag.load(Ordering::Relaxed))
    }
}

impl Head {
    /// A head for a live object of type `T`.
    #[must_use]
    pub fn new<T: Object>(tables: Tables) -> Self {
        Self {
            ddi: ze_handle_t {
                pCore: tables.core,
                pTools: std::ptr::from_ref(tables.tools).cast_mut(),
                pSysman: std::ptr::from_ref(tables.sysman).cast_mut(),
                pRuntime: std::ptr::from_ref(tables.runtime).cast_mut(),
            },
            tag: AtomicU32::new(T::TAG),
        }
    }
}

/// A type whose address is a handle, owned by an [`Arc`].
///
/// # Safety
/// `Self` is `repr(C)` and starts with a [`Head`]; handles are created by [`Object::give`] only.
pub unsafe trait Object: Sized + Send + Sync + 'static {
    /// The type that the C handle points to.
    type Opaque;
    /// Unique among the driver's types, not zero.
    const TAG: u32;
    /// For texts: "command list".
    const WHAT: &'static str;

    /// Passes one reference to C.
    fn give(this: Arc<Self>) -> *mut Self::Opaque {
        let handle = Arc::into_raw(this).cast_mut();
        tell(|watcher| watcher.created(handle.addr(), Self::WHAT));
        handle.cast()
    }

    /// The handle of an object that C already has.
    fn handle(&self) -> *mut Self::Opaque {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// The object of a handle that is not null.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the tag is different: a handle of the wrong type or one that was just destroyed.
    /// # Safety
    /// `raw` is a handle of any of the driver's types, valid for the returned lifetime.
    unsafe fn from_handle<'a>(raw: *mut Self::Opaque, name: &str) -> ZeResult<&'a Self> {
        let head = raw.cast::<Head>();
        // SAFETY: every object of the driver begins with a `Head`; the caller says that it is one.
        let tag = unsafe { &(*head).tag }.load(Ordering::Relaxed);
        if tag != Self::TAG {
            return Err(no_live_handle(raw.cast(), name, Self::WHAT));
        }
        // SAFETY: the tag says that it is a `Self`, and the caller that it stays one.
        Ok(unsafe { &*raw.cast::<Self>() })
    }
}

// A separate function, like the next ones: every entry has these checks, and few calls fail them.
#[cold]
fn no_live_handle(raw: *const (), name: &str, what: &'static str) -> ZeError {
    tell(|watcher| watcher.refused(raw.addr(), name, what));
    ZeError::new(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!("{name} is {raw:p}, which is not a live {what} handle of this driver"),
    )
}

#[cold]
fn null_handle(name: &str, what: &str) -> ZeError {
    ZeError::new(
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        format!("{name} is null; a {what} handle is required"),
    )
}

/// The live object of a handle that must not be null.
#[derive(Debug)]
pub struct Handle<'a, T: Object>(&'a T);

impl<T: Object> Clone for Handle<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Object> Copy for Handle<'_, T> {}

impl<T: Object> Deref for Handle<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<'a, T: Object> Handle<'a, T> {
    /// The object.
    #[must_use]
    pub fn get(self) -> &'a T {
        self.0
    }

    /// Another reference, which outlives the handle.
    #[must_use]
    pub fn arc(self) -> Arc<T> {
        let raw = std::ptr::from_ref(self.0);
        // SAFETY: handles come from `Arc::into_raw` (`Object::give`), and the one of C is still held.
        unsafe { Arc::increment_strong_count(raw) };
        // SAFETY: the count just added is the one taken here.
        unsafe { Arc::from_raw(raw) }
    }

    /// Takes back C's reference: the handle is invalid, the object lives while commands need it.
    #[must_use]
    pub fn take(self) -> Arc<T> {
        let raw = std::ptr::from_ref(self.0);
        // SAFETY: `Object` has a `Head` first.
        let head = unsafe { &*raw.cast::<Head>() };
        head.tag.store(0, Ordering::Relaxed);
        // SAFETY: the reference that `Object::give` gave to C; C does not use the handle any more.
        let object = unsafe { Arc::from_raw(raw) };
        tell(|watcher| watcher.destroyed(raw.addr(), Box::new(Arc::downgrade(&object))));
        object
    }
}

impl<T: Object> AbiArg for Handle<'_, T> {
    type Raw = *mut T::Opaque;
    fn check_handle(raw: &Self::Raw, name: &'static str) -> ZeResult {
        if raw.is_null() {
            return Err(null_handle(name, T::WHAT));
        }
        Ok(())
    }
    unsafe fn from_raw(raw: Self::Raw, name: &'static str) -> ZeResult<Self> {
        Self::check_handle(&raw, name)?;
        // SAFETY: not null, so a live handle by this function's contract.
        unsafe { T::from_handle(raw, name) }.map(Self)
    }
}

/// A handle that may be null.
#[derive(Debug)]
pub struct OptHandle<'a, T: Object>(pub Option<Handle<'a, T>>);

impl<T: Object> AbiArg for OptHandle<'_, T> {
    type Raw = *mut T::Opaque;
    unsafe fn from_raw(raw: Self::Raw, name: &'static str) -> ZeResult<Self> {
        if raw.is_null() {
            return Ok(Self(None));
        }
        // SAFETY: not null, so a live handle by this function's contract.
        unsafe { T::from_handle(raw, name) }.map(|object| Self(Some(Handle(object))))
    }
}
