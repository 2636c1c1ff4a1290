//! Where a program's code generator comes from: LLVM 22 linked in, else an installed library, opened at run time.

/// The library with all of LLVM inside.
pub(crate) const LIBRARY: &str = "libsolum_codegen.so.1";

/// What the build takes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// LLVM of this version, linked in.
    Linked(String),
    /// The installed library; and why not LLVM.
    Opened(String),
}

/// Decides: `llvm` is the version that `config` gives, or why it gives none; `installed` looks for the library, and is asked
/// only where LLVM 22 is missing.
///
/// # Errors
/// Neither is there: what to install.
pub(crate) fn choose(
    config: &str,
    llvm: Result<String, String>,
    installed: impl FnOnce() -> Result<(), String>,
) -> Result<Source, String> {
    let why = match llvm {
        Ok(version) if version.starts_with("22.") => return Ok(Source::Linked(version)),
        Ok(version) => format!("{config} is of LLVM {version}, not 22"),
        Err(error) => error,
    };
    match installed() {
        Ok(()) => Ok(Source::Opened(why)),
        Err(missing) => Err(format!(
            "{why}: apt install llvm-22-dev zlib1g-dev libzstd-dev, or set LLVM_CONFIG; \
             or install {LIBRARY} where the system's linker looks ({missing})"
        )),
    }
}
