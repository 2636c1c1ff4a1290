//! What the environment says about this copy, and the log.

use std::ffi::{CStr, OsStr, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_mutable_kernel_argument_exp_desc_t, ze_result_t};

use crate::objects;

/// One kind of device that the stub can pretend to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Device {
    Discrete,
    Integrated,
    Cpu,
    Npu,
}

/// The script of this copy.
pub(crate) struct Script {
    /// File name of this copy.
    pub(crate) file: String,
    log: Option<File>,
    pub(crate) legacy: bool,
    /// Objects end at a page that may not be read.
    pub(crate) guard: bool,
    /// Creation returns the same object every time.
    pub(crate) reuse: bool,
    /// The newest version that getters serve, if the script says one.
    pub(crate) getters: Option<u32>,
    /// The API version to report, if the script says one.
    pub(crate) api: Option<u32>,
    pub(crate) table_version: u32,
    /// `Some` lowers the API version to 1.16, so that the loader looks at the extension.
    pub(crate) extension: Option<u32>,
    pub(crate) devices: Vec<Device>,
    pub(crate) null_slots: Vec<String>,
    pub(crate) null_tables: Vec<String>,
    pub(crate) results: Vec<(String, u32)>,
}

/// The entries of a variable that concern the copy called `file`.
fn entries(value: &str, file: &str) -> Vec<String> {
    value
        .split(',')
        .filter(|entry| !entry.is_empty())
        .filter_map(|entry| match entry.split_once(':') {
            Some((name, value)) => file.contains(name).then_some(value),
            None => Some(entry),
        })
        .map(str::to_owned)
        .collect()
}

fn version(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once('.')?;
    Some(major.parse::<u32>().ok()? << 16 | minor.parse::<u32>().ok()?)
}

fn device(text: &str) -> Option<Device> {
    Some(match text {
        "discrete" => Device::Discrete,
        "integrated" => Device::Integrated,
        "cpu" => Device::Cpu,
        "npu" => Device::Npu,
        _ => return None,
    })
}

fn result(text: &str) -> Option<(String, u32)> {
    let (name, code) = text.split_once('=')?;
    let code = match code.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => code.parse().ok()?,
    };
    Some((name.to_owned(), code))
}

/// The name of the file that this code was loaded from.
fn own_file() -> String {
    // SAFETY: all-zero is a valid `Dl_info` (null pointers).
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `dladdr` accepts any address and writes only `info`.
    let found = unsafe { libc::dladdr(own_file as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return String::new();
    }
    // SAFETY: a C string owned by the dynamic linker.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    path.file_name()
        .map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// This copy's script.
pub(crate) fn script() -> &'static Script {
    static SCRIPT: OnceLock<Script> = OnceLock::new();
    SCRIPT.get_or_init(|| {
        let file = own_file();
        let read = |variable: &str| entries(&std::env::var(variable).unwrap_or_default(), &file);
        let log = std::env::var_os("SOLUM_STUB_LOG")
            .and_then(|path| OpenOptions::new().append(true).create(true).open(path).ok());
        let devices = read("SOLUM_STUB_DEVICES");
        let devices: Vec<_> = devices
            .iter()
            .flat_map(|entry| entry.split('+'))
            .filter_map(device)
            .collect();
        Script {
            log,
            legacy: read("SOLUM_STUB_LEGACY").iter().any(|value| value == "1"),
            guard: read("SOLUM_STUB_GUARD").iter().any(|value| value == "1"),
            reuse: read("SOLUM_STUB_REUSE").iter().any(|value| value == "1"),
            getters: read("SOLUM_STUB_GETTERS")
                .first()
                .and_then(|text| version(text)),
            api: read("SOLUM_STUB_API")
                .first()
                .and_then(|text| version(text)),
            table_version: read("SOLUM_STUB_VERSION")
                .first()
                .and_then(|text| version(text))
                .unwrap_or(0x1_0011),
            extension: read("SOLUM_STUB_EXTENSION")
                .first()
                .and_then(|text| version(text)),
            devices: if devices.is_empty() {
                vec![Device::Discrete]
            } else {
                devices
            },
            null_slots: read("SOLUM_STUB_NULL"),
            null_tables: read("SOLUM_STUB_NO_TABLE"),
            results: read("SOLUM_STUB_RESULT")
                .iter()
                .filter_map(|text| result(text))
                .collect(),
            file,
        }
    })
}

/// Logs a call without handles and says what it answers.
pub(crate) fn slot(name: &'static str) -> ze_result_t {
    Call::new(name).finish()
}

/// One call: what is logged about it, and what it answers.
pub(crate) struct Call {
    name: &'static str,
    /// Collected only if there is a log: arguments are not read else.
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

    /// True when the call shall succeed.
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
    /// `chain` begins with type and next link, as do all structs that hang on it.
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

    /// Writes the handle of the object that belongs to this parameter.
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

    /// Writes that there are none.
    ///
    /// # Safety
    /// `place` is null or writable.
    pub(crate) unsafe fn none(&mut self, place: *mut u32) {
        if self.succeeds() && !place.is_null() {
            // SAFETY: non-null, and writable by the caller's contract.
            unsafe { place.write(0) };
        }
    }

    /// Writes the line and answers.
    pub(crate) fn finish(&mut self) -> ze_result_t {
        if let (Some(line), Some(mut log)) = (self.line.take(), script().log.as_ref()) {
            // A log that cannot be written fails the test that reads it.
            let _ = log.write_all(format!("{line}\n").as_bytes());
        }
        self.result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_concern_copies_by_name() {
        let table = [
            ("1", "libstub_a.so", vec!["1"]),
            ("stub_a:1", "libstub_a.so", vec!["1"]),
            ("stub_a:1", "libstub_b.so", vec![]),
            ("x,stub_b:y,,z", "libstub_b.so", vec!["x", "y", "z"]),
        ];
        for (value, file, expected) in table {
            assert_eq!(entries(value, file), expected, "{value} for {file}");
        }
    }

    #[test]
    fn values_are_read() {
        assert_eq!(version("1.12"), Some(0x1_000c));
        assert_eq!(version("112"), None);
        assert_eq!(
            result("zeInit=0x78000001"),
            Some(("zeInit".into(), 0x7800_0001))
        );
        assert_eq!(result("zeInit"), None);
        assert_eq!(device("npu"), Some(Device::Npu));
        assert_eq!(device("toaster"), None);
    }
}
