//! Lines of the program's own code: where it allocated and freed memory. The checked process tells objects and offsets; their
//! debug information is read here, after its end.

use std::collections::HashMap;
use std::path::Path;

use addr2line::{Loader, demangle_auto};
use check_report::host_stack::of_program;
use check_report::{Address, Frame};

/// Folders with headers of C++ whose functions are inlined into the program, and with the sources of Rust's libraries.
const LIBRARIES: [&str; 4] = [
    "/include/sycl/",
    "/include/c++/",
    "/rustc/",
    "/library/std/",
];
/// Our crates that a program in Rust contains.
const CRATES: [&str; 6] = [
    "level-zero",
    "sycl",
    "ze-cpu",
    "ze-driver",
    "ze-abi",
    "ze-loader",
];

/// The debug information of programs and libraries, read as it is needed.
#[derive(Default)]
pub(super) struct ProgramLines {
    /// `None`: it cannot be read.
    objects: HashMap<String, Option<Loader>>,
}

impl ProgramLines {
    /// Whether the program itself allocates on this stack, and not the `sycl` crate in it, which keeps memory to the end. Without
    /// symbols it is not known.
    pub(super) fn is_known_to_be_programs(&mut self, stack: &[Address]) -> bool {
        let frames = self.all_frames(stack);
        let is_named = |frame: &&Frame| !frame.function.is_empty();
        let is_sycl = |frame: &Frame| {
            let function = frame.function.trim_start_matches('<');
            let is_crate = function.starts_with("sycl::") && !function.starts_with("sycl::_V");
            is_crate || crate_of(&frame.file) == Some("sycl")
        };
        frames.first().as_ref().is_some_and(is_named) && !frames.iter().any(is_sycl)
    }

    fn all_frames(&mut self, stack: &[Address]) -> Vec<Frame> {
        let mut frames = Vec::new();
        for address in of_program(stack) {
            self.add(address, &mut frames);
        }
        frames
    }

    /// The frames of a stack, innermost first, from the program's first on.
    pub(super) fn frames(&mut self, stack: &[Address]) -> Vec<Frame> {
        let mut frames = self.all_frames(stack);
        // Frames of libraries stand around the program's own.
        let is_own = |frame: &Frame| frame.has_line() && !is_of_library(&frame.file);
        if let Some(last) = frames.iter().rposition(is_own) {
            frames.truncate(last + 1);
            let first = frames.iter().position(is_own);
            frames.drain(..first.unwrap_or(0));
        }
        frames
    }

    /// Adds the function at an address, and those that it is inlined into.
    fn add(&mut self, address: &Address, frames: &mut Vec<Frame>) {
        let path = &address.object;
        let loader = self.objects.entry(path.clone()).or_insert_with(|| {
            // Device files and pipes are no objects, and reading one may take for ever.
            let is_file = Path::new(path).metadata().is_ok_and(|file| file.is_file());
            is_file.then(|| Loader::new(path).ok()).flatten()
        });
        let before = frames.len();
        if let Some(loader) = loader
            && let Ok(mut found) = loader.find_frames(address.offset)
        {
            while let Ok(Some(frame)) = found.next() {
                let name = frame.function.as_ref();
                let name = name.and_then(|name| Some(name.demangle().ok()?.into_owned()));
                let place = frame.location;
                frames.push(Frame {
                    function: name.unwrap_or_default(),
                    file: place
                        .as_ref()
                        .and_then(|place| place.file)
                        .unwrap_or_default()
                        .to_owned(),
                    line: place.as_ref().and_then(|place| place.line).unwrap_or(0),
                    column: place.and_then(|place| place.column).unwrap_or(0),
                });
            }
        }
        let is_named = frames[before..]
            .iter()
            .any(|frame| !frame.function.is_empty());
        if !is_named {
            let symbol = loader
                .as_ref()
                .and_then(|it| it.find_symbol(address.offset));
            let symbol = symbol.unwrap_or(&address.function);
            let function = demangle_auto(symbol.into(), None).into_owned();
            match frames.get_mut(before) {
                Some(frame) => frame.function = function,
                None if function.is_empty() => {}
                None => frames.push(Frame {
                    function,
                    ..Frame::default()
                }),
            }
        }
    }
}

fn is_of_library(file: &str) -> bool {
    LIBRARIES.iter().any(|part| file.contains(part)) || crate_of(file).is_some()
}

/// Which of [`CRATES`] a source file belongs to.
fn crate_of(file: &str) -> Option<&'static str> {
    let mut folders = file.rsplit('/');
    let folder = folders
        .any(|folder| folder == "src")
        .then(|| folders.next())??;
    let name = folder.strip_prefix("solum-").unwrap_or(folder);
    // Packages of a registry have their version behind the name.
    CRATES.into_iter().find(|one| {
        let rest = name.strip_prefix(one);
        let version = rest.and_then(|rest| rest.strip_prefix('-'));
        rest == Some("") || version.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_program_has_its_line() {
        let mut lines = ProgramLines::default();
        let own = std::env::current_exe().unwrap();
        let path = own.to_string_lossy().into_owned();
        let loader = Loader::new(&own).unwrap();
        // An address of the symbol table, as the linker wrote it.
        let bytes = std::fs::read(&own).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        use object::{Object as _, ObjectSymbol as _};
        let symbol = file.symbols().find(|symbol| {
            let name = symbol.name().unwrap_or_default();
            name.contains("an_address_of_this_program") && symbol.size() > 64
        });
        let offset = symbol.unwrap().address() + 16;
        drop(loader);
        let frames = lines.frames(&[Address {
            object: path,
            offset,
            function: String::new(),
        }]);
        let own = |frame: &&Frame| frame.file.ends_with("program_lines.rs");
        assert!(frames.iter().any(|frame| own(&frame)), "{frames:?}");
    }

    #[test]
    fn libraries_are_known_by_their_files() {
        for (file, is_library) in [
            ("/opt/dpcpp/include/sycl/usm.hpp", true),
            ("/usr/include/c++/12/bits/vector.h", true),
            ("/rustc/0123/library/core/src/option.rs", true),
            (
                "/home/me/.cargo/registry/src/x/level-zero-0.1.0/src/memory.rs",
                true,
            ),
            (
                "/home/me/.cargo/registry/src/x/solum-ze-cpu-0.1.0/src/check/mod.rs",
                true,
            ),
            ("/home/me/sycl-demo/src/main.cpp", false),
            ("src/main.rs", false),
            ("main.c", false),
            ("", false),
        ] {
            assert_eq!(is_of_library(file), is_library, "{file}");
        }
    }

    #[test]
    fn what_is_no_object_has_the_functions_name() {
        let mut lines = ProgramLines::default();
        for object in ["/dev/zero", "/no/such/file", "/proc/self/maps", ""] {
            let address = Address {
                object: object.into(),
                offset: 8,
                function: "_ZN4prog4makeEv".into(),
            };
            let frames = lines.frames(&[address]);
            assert_eq!(frames[0].function, "prog::make()", "{object}");
        }
    }
}
