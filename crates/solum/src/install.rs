//! Where Solum's libraries are: beside the program (a build folder) or in `../lib` (an installation).

use std::path::PathBuf;

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
