//! The description of a stream.

use core::ffi::CStr;
use std::ffi::CString;

/// A stream that an emitter has announced.
#[derive(Debug)]
pub struct StreamInfo {
    pub(crate) name: CString,
    pub(crate) version: CString,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) id: u8,
}

impl StreamInfo {
    /// Its name, such as `sycl` or `ur.call`.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Its version, as the emitter writes it.
    pub fn version(&self) -> &CStr {
        &self.version
    }

    /// Major and minor version.
    pub fn numbers(&self) -> (u32, u32) {
        (self.major, self.minor)
    }

    /// Its number in this process.
    pub fn id(&self) -> u8 {
        self.id
    }
}
