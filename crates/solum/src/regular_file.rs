//! Reads regular files only: a pipe or device of the same name would block or never end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// It cannot be opened or is not a regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let other = || io::Error::other("it is not a regular file");
    // Checked before opening, because the writer of a pipe would notice the open, and after, because the name may have
    // been replaced meanwhile.
    if !path.metadata()?.is_file() {
        return Err(other());
    }
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(other()),
    }
}

/// Reads at most `most` bytes from the start of a regular file.
///
/// # Errors
/// It cannot be read or is not a regular file.
pub(crate) fn start(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn nothing_but_files_is_read_and_nothing_is_waited_for() {
        let top = std::env::temp_dir().join(format!("solum-ordinary-{}", std::process::id()));
        std::fs::create_dir(&top).expect("a temporary folder");
        let (file, pipe) = (top.join("file"), top.join("pipe"));
        std::fs::write(&file, "content").expect("writable");
        let name = CString::new(pipe.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for (most, content) in [(100, "content"), (3, "con"), (0, "")] {
            assert_eq!(start(&file, most).expect("a file"), content.as_bytes());
        }
        for other in [&pipe, &top, Path::new("/dev/zero")] {
            let error = start(other, 100).expect_err("no file");
            assert!(error.to_string().contains("regular"), "{error}");
        }
        for elf in [&pipe, &top] {
            let error = crate::elf::read(elf).expect_err("no file");
            assert!(error.contains("regular"), "{error}");
        }
        let missing = open(&top.join("missing")).expect_err("none");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(&top).expect("ours");
    }
}
