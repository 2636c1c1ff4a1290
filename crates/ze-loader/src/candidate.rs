//! The driver libraries to try, and their order.

use std::ffi::{CStr, OsStr, OsString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The init flags that select a library (README of the ABI, rule 11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// A vendor's GPU driver: the GPU flag, or no flag.
    Gpu,
    /// A vendor's NPU driver: the VPU/NPU flag, or no flag.
    Npu,
    /// Named by the user, or ours (which has devices of several types): always used.
    Any,
}

impl Class {
    /// Whether `zeInit(flags)` selects this library.
    pub(crate) fn matches_init(self, flags: u32) -> bool {
        match self {
            Class::Gpu => flags == 0 || flags & level_zero_sys::ZE_INIT_FLAG_GPU_ONLY != 0,
            Class::Npu => flags == 0 || flags & level_zero_sys::ZE_INIT_FLAG_VPU_ONLY != 0,
            Class::Any => true,
        }
    }

    /// Whether `zeInitDrivers` with these descriptor flags selects this library.
    pub(crate) fn matches_types(self, flags: u32) -> bool {
        match self {
            Class::Gpu => flags & level_zero_sys::ZE_INIT_DRIVER_TYPE_FLAG_GPU != 0,
            Class::Npu => flags & level_zero_sys::ZE_INIT_DRIVER_TYPE_FLAG_NPU != 0,
            Class::Any => true,
        }
    }
}

/// One library to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// Name or path for `dlopen`.
    pub(crate) name: OsString,
    pub(crate) class: Class,
    /// Our driver: sorted after every vendor's driver, whatever its devices.
    pub(crate) own: bool,
}

/// Vendors' drivers, by the names that the reference opens.
const VENDORS: [(&str, Class); 4] = [
    ("libze_intel_gpu.so.1", Class::Gpu),
    ("libze_intel_gpu_legacy1.so.1", Class::Gpu),
    ("libze_intel_vpu.so.1", Class::Npu),
    ("libze_intel_npu.so.1", Class::Npu),
];

/// Our driver's file names; the versioned one first.
const OWN: [&str; 2] = ["libze_solum_cpu.so.1", "libze_solum_cpu.so"];

/// Whether the process has more rights than its caller: paths from the environment are ignored then.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: `getauxval` reads a constant of the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The libraries to try, from the environment and the loader's own folder.
pub(crate) fn all() -> Vec<Candidate> {
    let alternatives = if is_privileged() {
        None
    } else {
        std::env::var_os("ZE_ENABLE_ALT_DRIVERS")
    };
    let directories = own_directories();
    let mut candidates = match alternatives {
        Some(list) => named(&list),
        None => well_known(&directories),
    };
    if is_on("ZE_ENABLE_NULL_DRIVER") {
        let prefix = std::env::var_os("ZEL_LIBRARY_PATH")
            .filter(|path| !path.is_empty() && !is_privileged());
        candidates.insert(0, null_driver(prefix, &directories));
    }
    candidates
}

/// The reference's switches: on if set and not `0`.
pub(crate) fn is_on(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value != "0")
}

/// The null driver: in `ZEL_LIBRARY_PATH`, else beside the loader, else by bare name.
fn null_driver(prefix: Option<OsString>, directories: &[PathBuf]) -> Candidate {
    const NAME: &str = "libze_null.so.1";
    let beside = || {
        directories
            .iter()
            .map(|directory| directory.join(NAME))
            .find(|path| path.exists())
    };
    let name = match prefix {
        Some(prefix) => Path::new(&prefix).join(NAME).into_os_string(),
        None => beside().map_or_else(|| NAME.into(), PathBuf::into_os_string),
    };
    Candidate {
        name,
        class: Class::Any,
        own: false,
    }
}

/// `ZE_ENABLE_ALT_DRIVERS`: comma-separated names or paths, not trimmed; empty entries are kept, so that they are
/// reported.
fn named(list: &OsStr) -> Vec<Candidate> {
    list.as_bytes()
        .split(|byte| *byte == b',')
        .map(|name| Candidate {
            name: OsStr::from_bytes(name).to_owned(),
            class: Class::Any,
            own: false,
        })
        .collect()
}

/// The vendors' drivers, then ours: beside the loader if it is there, else by bare name.
fn well_known(directories: &[PathBuf]) -> Vec<Candidate> {
    let mut candidates: Vec<_> = VENDORS
        .iter()
        .map(|(name, class)| Candidate {
            name: (*name).into(),
            class: *class,
            own: false,
        })
        .collect();
    let beside = directories
        .iter()
        .flat_map(|directory| OWN.iter().map(move |name| directory.join(name)));
    let own = beside
        .into_iter()
        .find(|path| path.exists())
        .map_or_else(|| OWN[0].into(), PathBuf::into_os_string);
    candidates.push(Candidate {
        name: own,
        class: Class::Any,
        own: true,
    });
    candidates
}

/// The folder that the loader was opened from and, if that was through links, the folder of its file.
pub(crate) fn own_directories() -> Vec<PathBuf> {
    let Some(file) = file_of(own_directories as *const c_void) else {
        return Vec::new();
    };
    let resolved = file.canonicalize().ok();
    let mut directories: Vec<PathBuf> = Vec::new();
    for path in [Some(file), resolved].into_iter().flatten() {
        let directory = path.parent().unwrap_or(Path::new("/")).to_owned();
        if path.is_absolute() && !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    directories
}

/// The file of the library that contains `address`.
pub(crate) fn file_of(address: *const c_void) -> Option<PathBuf> {
    // SAFETY: all-zero is a valid `Dl_info` (null pointers).
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `dladdr` accepts any address and writes only `info`.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name is a C string owned by the dynamic linker and lives as long as the library.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_empty_and_untrimmed_entries() {
        let names = |list: &str| -> Vec<OsString> {
            named(OsStr::new(list))
                .into_iter()
                .map(|c| c.name)
                .collect()
        };
        assert_eq!(names(""), [""]);
        assert_eq!(names("a,,b "), ["a", "", "b "]);
        assert_eq!(names(","), ["", ""]);
    }

    #[test]
    fn ours_comes_last_and_by_bare_name_without_a_file() {
        let candidates = well_known(&[PathBuf::from("/nonexistent")]);
        assert_eq!(candidates.len(), VENDORS.len() + 1);
        assert_eq!(candidates.iter().position(|c| c.own), Some(VENDORS.len()));
        assert_eq!(candidates[VENDORS.len()].name, OWN[0]);
    }

    #[test]
    fn the_null_driver_comes_from_where_the_environment_says() {
        let none = [PathBuf::from("/nonexistent")];
        assert_eq!(null_driver(None, &none).name, "libze_null.so.1");
        assert_eq!(
            null_driver(Some("/opt/ze".into()), &none).name,
            "/opt/ze/libze_null.so.1"
        );
    }

    #[test]
    fn classes_follow_the_flags() {
        let table = [
            (Class::Gpu, 0, true),
            (Class::Gpu, 1, true),
            (Class::Gpu, 2, false),
            (Class::Npu, 0, true),
            (Class::Npu, 1, false),
            (Class::Npu, 2, true),
            (Class::Any, 2, true),
        ];
        for (class, flags, expected) in table {
            assert_eq!(class.matches_init(flags), expected, "{class:?} {flags}");
        }
        assert!(
            !Class::Gpu.matches_types(2)
                && Class::Npu.matches_types(u32::MAX)
                && Class::Any.matches_types(1)
        );
    }
}
