//! In the child: a library is opened and asked for symbols; nothing of it is called but its initialisers.

use std::ffi::{CStr, CString, OsStr, c_char};

use super::probe::{Step, tell};
use crate::library::Library;

/// Opens `name` and looks for `symbols`; of a code generator its build is asked for.
pub(crate) fn probe(name: &OsStr, symbols: &[String]) {
    let (library, path) = match Library::open(name) {
        Ok(opened) => opened,
        Err(reason) => return tell(&Step::Refused { reason }),
    };
    tell(&Step::Opened {
        path: path.to_string_lossy().into_owned(),
    });
    let missing: Vec<String> = symbols
        .iter()
        .filter(|symbol| {
            CString::new(symbol.as_str()).map_or(true, |symbol| library.symbol(&symbol).is_none())
        })
        .cloned()
        .collect();
    tell(&Step::Missing { symbols: missing });
    // SAFETY: Solum's code generator is the only library with this name, and this is its signature.
    let build = unsafe {
        library.function::<unsafe extern "C" fn() -> *const c_char>(c"solum_codegen_build_id")
    };
    if let Some(build) = build {
        // SAFETY: it gives a C string that lives for ever.
        let id = unsafe { CStr::from_ptr(build()) };
        tell(&Step::Build {
            id: id.to_string_lossy().into_owned(),
        });
    }
}
