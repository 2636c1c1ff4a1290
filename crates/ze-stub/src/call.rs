//! One call: its log line, its outputs and its result.

use std::ffi::c_void;
use std::io::Write;

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_mutable_kernel_argument_exp_desc_t, ze_result_t};

use crate::objects;
use crate::script::script;

/// Logs a call without handles and returns its result.
pub(crate) fn slot(name: &'static str) -> ze_result_t {
    Call::new(name).finish()
}

/// One call: its log line and its result.
pub(crate) struct Call {
    name: &'static str,
    /// Collected only if there is a log; otherwise arguments are not read.
    line: Option<String>,
    result: ze_result_t,
}

impl Call {
    pub(crate) fn new(name: &'static str) -> Call {
        let script = script();
        let scripted = script.results.iter().find(|(scripted, _)| scripted == name);
        Call {
            name,
            line: script
                .log
                .as_ref()
                .map(|_| format!("{} {name}", script.file)),
            result: scripted.map_or(ZE_RESULT_SUCCESS, |(_, code)| ze_result_t(*code)),
        }
    }

    /// Whether the call is to succeed.
    pub(crate) fn succeeds(&self) -> bool {
        self.result == ZE_RESULT_SUCCESS
    }

    /// Logs a handle.
    pub(crate) fn handle<T>(&mut self, name: &str, handle: *mut T) {
        self.handles(name, [handle]);
    }

    fn handles<T>(&mut self, name: &str, handles: impl IntoIterator<Item = *mut T>) {
        if let Some(line) = &mut self.line {
            let handles: Vec<String> = handles
                .into_iter()
                .map(|handle| format!("{:#x}", handle.addr()))
                .collect();
            *line += &format!(" {name}={}", handles.join("+"));
        }
    }

    /// Logs an array of handles.
    ///
    /// # Safety
    /// `array` is null or has `count` readable elements.
    pub(crate) unsafe fn array<T>(&mut self, name: &str, count: u32, array: *mut *mut T) {
        if self.line.is_some() && !array.is_null() && count > 0 {
            // SAFETY: by the caller's contract.
            let handles = unsafe { std::slice::from_raw_parts(array, count as usize) }.to_vec();
            self.handles(name, handles);
        }
    }

    /// Logs the value of a kernel argument in a chain of mutable-command descriptors.
    ///
    /// # Safety
    /// `chain` begins with type and next link, and so do all structs in its chain.
    pub(crate) unsafe fn argument_in_chain(&mut self, mut chain: *const c_void) {
        while self.line.is_some() && !chain.is_null() {
            // SAFETY: by the caller's contract.
            unsafe {
                let argument = chain.cast::<ze_mutable_kernel_argument_exp_desc_t>();
                if (*argument).stype == ze_mutable_kernel_argument_exp_desc_t::STYPE
                    && (*argument).argSize == 8
                {
                    let value = (*argument).pArgValue.cast::<*mut c_void>().read_unaligned();
                    self.handle("pArgValue", value);
                }
                chain = (*argument).pNext;
            }
        }
    }

    /// Logs the values of a kernel's two arguments where they are aligned like handles.
    ///
    /// # Safety
    /// `arguments` is null or has two elements, each a pointer to eight readable bytes if it is aligned to eight.
    pub(crate) unsafe fn arguments(&mut self, arguments: *mut *mut c_void) {
        if self.line.is_none() || arguments.is_null() {
            return;
        }
        for index in 0..2 {
            // SAFETY: by the caller's contract.
            unsafe {
                let value = (*arguments.add(index)).cast::<*mut c_void>();
                if !value.is_null() && value.is_aligned() {
                    self.handle("pArguments", *value);
                }
            }
        }
    }

    /// Writes a new object's handle.
    ///
    /// # Safety
    /// `place` is null or writable.
    pub(crate) unsafe fn created<T>(&mut self, name: &str, place: *mut *mut T) {
        if script().reuse {
            // SAFETY: by the caller's contract.
            return unsafe { self.kept(name, place) };
        }
        // SAFETY: by the caller's contract.
        unsafe { self.output(name, place, objects::object) };
    }

    /// Writes the handle of this parameter's object.
    ///
    /// # Safety
    /// `place` is null or writable.
    pub(crate) unsafe fn kept<T>(&mut self, name: &str, place: *mut *mut T) {
        let key = format!("{} {name}", self.name);
        // SAFETY: by the caller's contract.
        unsafe { self.output(name, place, || objects::kept(&key)) };
    }

    unsafe fn output<T>(
        &mut self,
        name: &str,
        place: *mut *mut T,
        make: impl FnOnce() -> *mut c_void,
    ) {
        if self.succeeds() && !place.is_null() {
            let object = make();
            self.handle(name, object);
            // SAFETY: non-null, and writable by the caller's contract.
            unsafe { place.write(object.cast()) };
        }
    }

    /// Count and array: one object, which belongs to this parameter.
    ///
    /// # Safety
    /// `count` is null or valid, `array` null or as large as `*count`.
    pub(crate) unsafe fn listed<T>(&mut self, name: &str, count: *mut u32, array: *mut *mut T) {
        if !self.succeeds() || count.is_null() {
            return;
        }
        // SAFETY: by the caller's contract.
        unsafe {
            if !array.is_null() && *count > 0 {
                self.kept(name, array);
            }
            count.write(1);
        }
    }

    /// Writes a count of zero.
    ///
    /// # Safety
    /// `place` is null or writable.
    pub(crate) unsafe fn none(&mut self, place: *mut u32) {
        if self.succeeds() && !place.is_null() {
            // SAFETY: non-null, and writable by the caller's contract.
            unsafe { place.write(0) };
        }
    }

    /// Writes the line and returns the result.
    pub(crate) fn finish(&mut self) -> ze_result_t {
        if let (Some(line), Some(mut log)) = (self.line.take(), script().log.as_ref()) {
            // A log that cannot be written fails the test that reads it.
            let _ = log.write_all(format!("{line}\n").as_bytes());
        }
        self.result
    }
}
