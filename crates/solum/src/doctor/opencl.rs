//! Checks whether an OpenCL program reaches Solum: its ICD loader must find an OpenCL implementation over Level Zero.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::linker::Process;
use super::loader;
use super::report::Check;
use crate::{elf, regular_file};

const AREA: &str = "opencl";
/// The name by which programs open the ICD loader.
const ICD_LOADER: &str = "libOpenCL.so.1";
const VENDORS: &str = "OCL_ICD_VENDORS";
const VENDORS_FOLDER: &str = "/etc/OpenCL/vendors";
/// The most `.icd` files that are read.
const FILES_BOUND: usize = 64;
/// Bytes that are read of an `.icd` file, which holds one path.
const FILE_BOUND: u64 = 4096;
/// PoCL's Level Zero driver relative to its library: installed, or in a build folder.
const PARTS: [&str; 2] = [
    "pocl/libpocl-devices-level0.so",
    "devices/level0/libpocl-devices-level0.so",
];
const PAGE: &str = "docs/opencl.md";

/// Checks a process that loads the ICD loader.
pub(crate) fn check(process: &Process, environment: &Environment) -> Option<Check> {
    check_in(process, environment, Path::new(VENDORS_FOLDER))
}

fn check_in(process: &Process, environment: &Environment, folder: &Path) -> Option<Check> {
    let by = process
        .objects
        .iter()
        .position(|object| Path::new(&object.name).file_name() == Some(OsStr::new(ICD_LOADER)))?;
    let named = environment.given(VENDORS).map(Path::new);
    let place = named.unwrap_or(folder);
    let mut seen = Vec::new();
    for library in libraries(place) {
        // A bare name is searched for as by dlopen.
        let found = process.search(library.as_os_str(), by).found;
        let Some(found) = found.map(|found| found.path) else {
            seen.push(format!("{} (not found)", library.display()));
            continue;
        };
        if is_over_level_zero(&found) {
            return Some(Check::ok(
                AREA,
                format!(
                    "OpenCL programs reach Solum through {}; see {PAGE}",
                    found.display()
                ),
            ));
        }
        seen.push(found.display().to_string());
    }
    let place = match named {
        Some(place) => format!("{VENDORS}={}", place.display()),
        None => place.display().to_string(),
    };
    let seen = match seen.is_empty() {
        true => "no OpenCL implementation".to_owned(),
        false => seen.join(", "),
    };
    Some(Check::warn(
        AREA,
        "OpenCL programs reach Solum only through an OpenCL implementation over Level Zero; none is installed",
        format!("{place} lists {seen}"),
        format!("build PoCL with ENABLE_LEVEL0 and set {VENDORS} to its .icd file; see {PAGE}"),
    ))
}

/// The libraries that the ICD loader opens. `place` is a folder of `.icd` files, an `.icd` file or a library.
fn libraries(place: &Path) -> Vec<PathBuf> {
    let is_icd = |path: &Path| path.extension() == Some(OsStr::new("icd"));
    if !place.is_dir() {
        return match is_icd(place) {
            true => content(place).into_iter().collect(),
            false => vec![place.to_owned()],
        };
    }
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| is_icd(path))
        .take(FILES_BOUND)
        .collect();
    files.sort();
    files.iter().filter_map(|file| content(file)).collect()
}

/// The library that an `.icd` file names.
fn content(file: &Path) -> Option<PathBuf> {
    let text = regular_file::start(file, FILE_BOUND).ok()?;
    let line = text.split(|byte| *byte == b'\n').next()?.trim_ascii();
    (!line.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(line)))
}

/// Whether the library, or a driver that it opens later, needs Level Zero's loader.
fn is_over_level_zero(library: &Path) -> bool {
    let library = library
        .canonicalize()
        .unwrap_or_else(|_| library.to_owned());
    let folder = library.parent().unwrap_or(Path::new("/"));
    let parts = PARTS.iter().map(|part| folder.join(part));
    std::iter::once(library.clone()).chain(parts).any(|file| {
        elf::read(&file).is_ok_and(|elf| elf.needed.iter().any(|name| name == loader::NAME))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::linker::System;
    use super::super::report::State;
    use super::*;
    use crate::elf::made::{File, write};

    #[test]
    fn an_implementation_over_level_zero_is_looked_for_as_the_icd_loader_does() {
        let top = std::env::temp_dir().join(format!("solum-opencl-{}", std::process::id()));
        let _ = fs::remove_dir_all(&top);
        let file = |name: &str, needed: &[&str]| {
            let path = top.join(name);
            fs::create_dir_all(path.parent().expect("below")).expect("writable");
            let file = File {
                needed,
                ..File::default()
            };
            write(&path, &file);
            path
        };
        let program = file("program", &[ICD_LOADER]);
        file(ICD_LOADER, &[]);
        file("one/libother.so", &[]);
        file("two/libdirect.so", &[loader::NAME]);
        file("three/libpocl.so", &[]);
        file("three/pocl/libpocl-devices-level0.so", &[loader::NAME]);
        let vendors = |name: &str, lines: &[&str]| {
            let folder = top.join(name);
            fs::create_dir_all(&folder).expect("writable");
            for (number, line) in lines.iter().enumerate() {
                let line = line.replace("TOP", &top.to_string_lossy());
                fs::write(folder.join(format!("{number}.icd")), line).expect("writable");
            }
            // The ICD loader passes over files with other names.
            fs::write(folder.join("README"), "two/libdirect.so").expect("writable");
            folder
        };
        let none = vendors("none", &[]);
        let other = vendors("other", &["TOP/one/libother.so\n", "libnowhere.so\n"]);
        let by_name = vendors("by-name", &["TOP/one/libother.so", "libdirect.so\n"]);
        let parts = vendors("parts", &["TOP/three/libpocl.so\n"]);
        let place = |path: &Path| path.to_string_lossy().into_owned();
        let list = format!("{}:{}", place(&top), place(&top.join("two")));
        let start = |program: &Path| {
            let system = System::of_this_machine();
            Process::start(system, program, Some(OsStr::new(&list)), None).expect("it can be read")
        };
        let process = start(&program);
        // OCL_ICD_VENDORS, the system's folder, the state, words of the line.
        for (named, folder, state, words) in [
            ("", &parts, State::Ok, "three/libpocl.so"),
            ("", &by_name, State::Ok, "two/libdirect.so"),
            (
                "",
                &none,
                State::Warn,
                "none lists no OpenCL implementation",
            ),
            (
                "",
                &other,
                State::Warn,
                "one/libother.so, libnowhere.so (not found)",
            ),
            (&place(&parts), &other, State::Ok, "three/libpocl.so"),
            (
                &place(&parts.join("0.icd")),
                &other,
                State::Ok,
                "three/libpocl.so",
            ),
            ("libdirect.so", &other, State::Ok, "two/libdirect.so"),
            (&place(&other), &parts, State::Warn, "OCL_ICD_VENDORS="),
            (
                "/nonexistent",
                &parts,
                State::Warn,
                "/nonexistent (not found)",
            ),
        ] {
            let environment = Environment::of(&[(VENDORS, named)]);
            let found = check_in(&process, &environment, folder).expect("a line");
            let text = format!("{} {:?}", found.found, found.cause);
            assert!(
                found.state == state && text.contains(words),
                "{named}: {text}"
            );
        }
        let process = start(&file("without", &[]));
        assert_eq!(check_in(&process, &Environment::default(), &parts), None);
        fs::remove_dir_all(&top).expect("ours");
    }
}
