//! Finds Solum's libraries: beside the executable (a build folder) or in `../lib` (an installation).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::library::Library;
use crate::output::Failure;

/// The file that identifies the folder of the libraries.
pub(crate) const LOADER: &str = "libze_loader.so.1";
/// The hint for missing libraries.
pub(crate) const HINT: &str =
    "pip install --force-reinstall solum-level-zero; or from the source, ./x install PREFIX";
/// The hint for anything that `solum doctor` can explain.
pub(crate) const DOCTOR: &str = "run solum doctor to find the cause";

/// The folder of the libraries, for use in `LD_LIBRARY_PATH`.
///
/// # Errors
/// It does not exist, or its path cannot be written in that variable.
pub(crate) fn for_programs() -> Result<PathBuf, Failure> {
    let folder = needed()?;
    // The dynamic linker splits the variable at these characters and has no way to escape them.
    if folder
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|byte| matches!(byte, b':' | b';'))
    {
        let text = format!(
            "{}: LD_LIBRARY_PATH cannot name a folder whose path contains a colon or semicolon",
            folder.display()
        );
        return Err(Failure::error(text).hint("install under another path: ./x install PREFIX"));
    }
    Ok(folder)
}

/// The folder of the libraries, for commands that need them.
///
/// # Errors
/// The folders that were searched, and a hint.
pub(crate) fn needed() -> Result<PathBuf, Failure> {
    library_folder().map_err(|error| Failure::error(error).hint(HINT))
}

/// File names of the code generator.
pub(crate) const GENERATOR: [&str; 2] = ["libsolum_codegen.so.1", "libsolum_codegen.so"];

/// The code generator that a driver in one of these folders opens: the first file of its name, otherwise the bare name,
/// which the dynamic linker searches for.
pub(crate) fn generator<'a>(folders: impl IntoIterator<Item = &'a Path>) -> PathBuf {
    folders
        .into_iter()
        .flat_map(|folder| GENERATOR.map(|name| folder.join(name)))
        .find(|path| path.exists())
        .unwrap_or_else(|| OsStr::new(GENERATOR[0]).into())
}

/// The folder that holds `libze_loader.so.1`.
///
/// # Errors
/// The folders that were searched.
pub(crate) fn library_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe()
        .map_err(|error| format!("cannot find solum's own executable: {error}"))?;
    let program = program.canonicalize().unwrap_or(program);
    let Some(beside) = program.parent() else {
        return Err(format!("{} has no folder", program.display()));
    };
    let candidates = [beside.to_owned(), beside.join("../lib")];
    let found = candidates
        .iter()
        .find(|folder| folder.join(LOADER).is_file());
    match found {
        Some(folder) => Ok(folder.canonicalize().unwrap_or_else(|_| folder.clone())),
        None => {
            let looked: Vec<String> = candidates
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            Err(format!(
                "{LOADER} not found; searched {}",
                looked.join(" and ")
            ))
        }
    }
}

/// The loader that a command uses: Solum's, or the one in `other`.
///
/// # Errors
/// It does not exist or cannot be opened.
pub(crate) fn loader(other: Option<&Path>) -> Result<(Library, PathBuf), Failure> {
    let path = match other {
        Some(path) => path.to_owned(),
        None => needed()?.join(LOADER),
    };
    match Library::open(path.as_os_str()) {
        Ok((library, _)) => Ok((library, path)),
        Err(error) => {
            let text = format!("{} cannot be opened: {error}", path.display());
            Err(Failure::error(text).hint(DOCTOR))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATOR, generator};

    #[test]
    fn the_generator_is_looked_for_as_the_driver_does() {
        let stage = std::env::temp_dir().join(format!("solum-generator-{}", std::process::id()));
        let folders = ["one", "two"].map(|name| stage.join(name));
        for folder in &folders {
            std::fs::create_dir_all(folder).unwrap();
        }
        let found = || generator(folders.iter().map(|folder| folder.as_path()));
        assert_eq!(
            found(),
            std::path::Path::new(GENERATOR[0]),
            "by its name alone"
        );
        // Each is better than those before it.
        for (folder, name) in [(1, 1), (1, 0), (0, 1), (0, 0)] {
            let file = folders[folder].join(GENERATOR[name]);
            std::fs::write(&file, "").unwrap();
            assert_eq!(found(), file);
        }
        std::fs::remove_dir_all(&stage).unwrap();
    }
}
