//! Errors: of a Level Zero call, or of finding Level Zero at all.

use level_zero_sys::*;

/// Result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A Level Zero function returned an error.
    #[error("{function} returned {}{}", code_name(*code), if text.is_empty() { String::new() } else { format!(": {text}") })]
    Call {
        /// The C function.
        function: &'static str,
        /// Its result.
        code: ze_result_t,
        /// The driver's last-error text; may be empty.
        text: String,
    },
    /// A module was not built.
    #[error("zeModuleCreate returned {}\n{log}", code_name(*code))]
    Build {
        /// Its result.
        code: ze_result_t,
        /// The build log.
        log: String,
    },
    /// The loader library could not be opened.
    #[error(
        "cannot open {library}: {reason}; set LD_LIBRARY_PATH to its folder, or run the program under `solum run`"
    )]
    Library {
        /// The name that was tried.
        library: String,
        /// The dynamic linker's text.
        reason: String,
    },
    /// An argument that the call cannot carry.
    #[error("{0}")]
    Argument(String),
}

impl Error {
    /// The result code, when a call failed.
    #[must_use]
    pub fn code(&self) -> Option<ze_result_t> {
        match self {
            Error::Call { code, .. } | Error::Build { code, .. } => Some(*code),
            Error::Library { .. } | Error::Argument(_) => None,
        }
    }
}

fn code_name(code: ze_result_t) -> String {
    code.name()
        .map_or_else(|| format!("{:#x}", code.0), str::to_owned)
}
