//! In the child: opens a library and looks up symbols. Only its initialisers run.

use std::ffi::{CStr, CString, OsStr, c_char};

use super::step::{Step, report};
use crate::library::Library;

/// Opens `name` and looks up `symbols`; also reports the build of a code generator.
pub(crate) fn run(name: &OsStr, symbols: &[String]) {
    let (library, path) = match Library::open(name) {
        Ok(opened) => opened,
        Err(reason) => return report(&Step::Refused { reason }),
    };
    report(&Step::Opened {
        path: path.to_string_lossy().into_owned(),
    });
    let missing: Vec<String> = symbols
        .iter()
        .filter(|symbol| {
            CString::new(symbol.as_str()).map_or(true, |symbol| library.symbol(&symbol).is_none())
        })
        .cloned()
        .collect();
    report(&Step::Missing { symbols: missing });
    // SAFETY: Solum's code generator is the only library with this name, and this is its signature.
    let build = unsafe {
        library.function::<unsafe extern "C" fn() -> *const c_char>(c"solum_codegen_build_id")
    };
    if let Some(build) = build {
        // SAFETY: it returns a C string with static lifetime.
        let id = unsafe { CStr::from_ptr(build()) };
        report(&Step::Build {
            id: id.to_string_lossy().into_owned(),
        });
    }
}
