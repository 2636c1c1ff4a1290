//! Where Solum's libraries are: beside the program (a build folder) or in `../lib` (an installation).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
        .find(|folder| folder.join("libze_loader.so.1").is_file());
    match found {
        Some(folder) => Ok(folder.canonicalize().unwrap_or_else(|_| folder.clone())),
        None => {
            let looked: Vec<String> = candidates
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            Err(format!(
                "libze_loader.so.1 is neither in {}",
                looked.join(" nor in ")
            ))
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
