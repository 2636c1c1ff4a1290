//! Payloads: names and source positions of events.

use core::ffi::CStr;
use std::borrow::Cow;

use xpti_sys::payload_t;

use crate::raw::text;

/// A source location.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    raw: &'a payload_t,
}

impl<'a> Payload<'a> {
    /// # Safety
    /// Null, or a payload whose strings live for `'a`.
    pub(crate) unsafe fn from_raw(raw: *const payload_t) -> Option<Self> {
        // SAFETY: the caller's.
        unsafe { raw.as_ref() }.map(|raw| Self { raw })
    }

    /// Function, kernel or label.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        text(self.raw.name)
    }

    /// Source file, `<unknown-file>` if the emitter gave none.
    pub fn source_file(&self) -> Option<Cow<'a, str>> {
        text(self.raw.source_file)
    }

    /// Line; `None` if absent or 0.
    pub fn line(&self) -> Option<u32> {
        Some(self.raw.line_no).filter(|line| !matches!(*line, 0 | u32::MAX))
    }

    /// Column; `None` if absent or 0.
    pub fn column(&self) -> Option<u32> {
        Some(self.raw.column_no).filter(|column| !matches!(*column, 0 | u32::MAX))
    }

    /// Address of the code; 0 if absent.
    pub fn code_address(&self) -> usize {
        self.raw.code_ptr_va.addr()
    }

    /// Id of the location.
    pub fn unique_id(&self) -> u64 {
        self.raw.internal
    }

    /// Name as C string, to pass on.
    pub fn c_name(&self) -> Option<&'a CStr> {
        // SAFETY: the payload's strings live as long as it.
        (!self.raw.name.is_null()).then(|| unsafe { CStr::from_ptr(self.raw.name) })
    }
}
