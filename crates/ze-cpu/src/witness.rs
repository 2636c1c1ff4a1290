//! The file through which `solum run --require-kernels` detects that a kernel ran here.
//!
//! Invariants: nothing is written unless `SOLUM_WITNESS` names a file, and then once; a launch pays one relaxed load.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static FILE: OnceLock<PathBuf> = OnceLock::new();
static WANTED: AtomicBool = AtomicBool::new(false);

/// Names the file; the first name stays.
pub(crate) fn name(file: Option<&PathBuf>) {
    if let Some(file) = file
        && FILE.set(file.clone()).is_ok()
    {
        WANTED.store(true, Ordering::Release);
    }
}

/// A kernel is about to run.
pub(crate) fn kernel_runs() {
    if WANTED.load(Ordering::Relaxed) && WANTED.swap(false, Ordering::AcqRel) {
        // The file is the runner's own: it exists. If it cannot be written the runner reports that no kernel ran.
        if let Some(file) = FILE.get() {
            let _ = append(file);
        }
    }
}

/// Appends a line. Does not follow a link in the file's place, and does not wait for a pipe there.
fn append(file: &Path) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(file)?;
    signal_mask::without_write_signals(|| file.write_all(b"kernel\n"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn links_in_place_of_the_file_are_not_followed() {
        let folder = std::env::temp_dir().join(format!("solum-witness-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (file, link, pipe) = (
            folder.join("file"),
            folder.join("link"),
            folder.join("pipe"),
        );
        fs::write(&file, "").unwrap();
        super::append(&file).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(super::append(&link).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "kernel\n");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: a C string that lives through the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(super::append(&pipe).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
