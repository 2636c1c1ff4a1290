//! The environment's settings for this copy, and the log.

use std::ffi::{CStr, OsStr, c_void};
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

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
    pub(crate) log: Option<File>,
    pub(crate) legacy: bool,
    /// Objects end at an inaccessible page.
    pub(crate) guard: bool,
    /// Creation returns the same object every time.
    pub(crate) reuse: bool,
    /// The newest version that getters serve, if the script sets one.
    pub(crate) getters: Option<u32>,
    /// The API version to report, if the script sets one.
    pub(crate) api: Option<u32>,
    pub(crate) table_version: u32,
    /// `Some` lowers the API version to 1.16, so that the loader checks the extension.
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
