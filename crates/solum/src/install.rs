//! Where Solum's libraries are: beside the program (a build folder) or in `../lib` (an installation).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::library::Library;
use crate::say::Failure;

/// The file by which the folder of the libraries is known.
pub(crate) const LOADER: &str = "libze_loader.so.1";
/// What to do when the libraries are not there.
pub(crate) const HINT: &str = "build with ./x build, or install with ./x install PREFIX";

/// The folder of the libraries, for programs that find them by `LD_LIBRARY_PATH`.
///
/// # Errors
/// It is not there, or no variable can name it.
pub(crate) fn for_programs() -> Result<PathBuf, Failure> {
    let folder = needed()?;
    // The dynamic linker parts the variable there, and knows no way around it.
    if folder
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|byte| matches!(byte, b':' | b';'))
    {
        let text = format!(
            "{}: LD_LIBRARY_PATH cannot name a folder whose path holds a colon or semicolon",
            folder.display()
        );
        return Err(Failure::cannot(text).hint("install under another path: ./x install PREFIX"));
    }
    Ok(folder)
}

/// The folder of the libraries, for verbs that do nothing without them.
///
/// # Errors
/// Where was looked, and what to do.
pub(crate) fn needed() -> Result<PathBuf, Failure> {
    library_folder().map_err(|error| Failure::cannot(error).hint(HINT))
}

/// File names of the code generator.
pub(crate) const GENERATOR: [&str; 2] = ["libsolum_codegen.so.1", "libsolum_codegen.so"];

/// What to open as the code generator, as a driver in one of these folders does: the first file of its name; else its name
/// alone, for wherever the system's linker looks.
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
/// The folders that were looked into.
pub(crate) fn library_folder() -> Result<PathBuf, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find my own file: {error}"))?;
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
                "{LOADER} is neither in {}",
                looked.join(" nor in ")
            ))
        }
    }
}

/// The loader that a verb asks: Solum's, or another by its file.
///
/// # Errors
/// It is not there, or the dynamic linker's words.
pub(crate) fn loader(other: Option<&Path>) -> Result<(Library, PathBuf), Failure> {
    let path = match other {
        Some(path) => path.to_owned(),
        None => needed()?.join(LOADER),
    };
    match Library::open(path.as_os_str()) {
        Ok((library, _)) => Ok((library, path)),
        Err(error) => {
            let text = format!("{} cannot be opened: {error}", path.display());
            Err(Failure::cannot(text).hint("solum doctor finds the cause"))
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
