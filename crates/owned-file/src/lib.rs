//! Files that the user names and that we write, such as logs and reports: no other user redirects or delays the write.
//!
//! Invariants
//! - In a folder that other users can write to, nothing is opened but a new file or an ordinary file of this user's
//!   without a second name. No link is followed there, and no pipe is waited for.
//! - Nothing is cut before it is known to be such a file.
//! - In a folder that only this user or root can write to, links and devices are followed: they are the user's own or
//!   the system's, such as `/dev/stdout`.
//!
//! Not here: how folders are made, and folders that are held open (`solum`'s traces, the driver's cache).

pub mod user;

use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

/// What becomes of the content that a file has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// It goes.
    Replaced,
    /// It stays; each write goes to the end.
    Kept,
}

/// Opens a file to write to; a new one gets the mode, less the umask.
///
/// # Errors
/// It cannot be opened. Or other users can write to its folder, and the name there is no ordinary file of this user's.
pub fn open(path: &Path, content: Content, mode: u32) -> io::Result<File> {
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return Err(io::Error::new(
            ErrorKind::IsADirectory,
            "it is the path of a folder",
        ));
    };
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let folder = open_at(
        libc::AT_FDCWD,
        parent.as_os_str().as_bytes(),
        libc::O_PATH | libc::O_DIRECTORY,
        0,
    )?;
    let data = folder.metadata()?;
    let user = user::own();
    let (replaces, flags) = match content {
        Content::Replaced => (true, libc::O_WRONLY | libc::O_NOCTTY),
        Content::Kept => (false, libc::O_WRONLY | libc::O_NOCTTY | libc::O_APPEND),
    };
    let at = folder.as_raw_fd();
    let name = name.as_bytes();
    let is_trusted = data.uid() == 0 || user.as_ref() == Ok(&data.uid());
    if is_trusted && data.mode() & 0o022 == 0 {
        let cut = if replaces { libc::O_TRUNC } else { 0 };
        return open_at(at, name, flags | libc::O_CREAT | cut, mode);
    }
    match open_at(at, name, flags | libc::O_CREAT | libc::O_EXCL, mode) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let other = || denied("it is no ordinary file, and other users can write to its folder");
    let file = match open_at(at, name, flags | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0) {
        // A link; a pipe without a reader, or a socket.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENXIO)) => {
            return Err(other());
        }
        opened => opened?,
    };
    let data = file.metadata()?;
    if !data.is_file() || data.nlink() != 1 {
        return Err(other());
    }
    if data.uid() != user.map_err(denied)? {
        return Err(denied(format!(
            "it belongs to user {}, and other users can write to its folder",
            data.uid()
        )));
    }
    if replaces {
        file.set_len(0)?;
    }
    Ok(file)
}

fn denied(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, reason.into())
}

/// `openat`, which the standard library does not have.
fn open_at(folder: i32, name: &[u8], flags: i32, mode: u32) -> io::Result<File> {
    let name = CString::new(name)?;
    loop {
        // SAFETY: a C string; a folder's descriptor that is open, or the working directory's.
        let descriptor =
            unsafe { libc::openat(folder, name.as_ptr(), flags | libc::O_CLOEXEC, mode) };
        if descriptor >= 0 {
            // SAFETY: the system has just made it, and nobody else has it.
            return Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let top = std::env::temp_dir().join(format!("owned-file-{name}-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        top
    }

    fn write(path: &Path, content: &[u8]) -> io::Result<()> {
        open(path, Content::Replaced, 0o644)?.write_all(content)
    }

    fn append(path: &Path, content: &[u8]) -> io::Result<()> {
        open(path, Content::Kept, 0o644)?.write_all(content)
    }

    #[test]
    fn only_ordinary_files_of_ones_own_are_written_in_shared_folders() {
        let top = folder("links");
        let shared = top.join("shared");
        let own = top.join("own");
        fs::create_dir(&shared).unwrap();
        for (mode, is_followed) in [
            (0o777, false),
            (0o775, false),
            (0o1777, false),
            (0o755, true),
        ] {
            fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
            let plain = shared.join("plain");
            for (write, content, expected) in [
                (write as fn(&Path, &[u8]) -> _, "longer", "longer"),
                (write, "short", "short"),
                (append, ", kept", "short, kept"),
            ] {
                write(&plain, content.as_bytes()).unwrap();
                assert_eq!(fs::read_to_string(&plain).unwrap(), expected, "{mode:o}");
            }
            fs::remove_file(&plain).unwrap();
            append(&plain, b"new").unwrap();
            assert_eq!(fs::read_to_string(&plain).unwrap(), "new", "{mode:o}");

            for write in [write as fn(&Path, &[u8]) -> _, append] {
                let link = shared.join("link");
                let second = shared.join("second");
                fs::write(&own, "precious").unwrap();
                symlink(&own, &link).unwrap();
                fs::hard_link(&own, &second).unwrap();
                for name in [&link, &second] {
                    let written = write(name, b"new");
                    assert_eq!(written.is_ok(), is_followed, "{mode:o}: {written:?}");
                    let is_written = fs::read_to_string(&own).unwrap() != "precious";
                    assert_eq!(is_written, is_followed, "{mode:o}");
                    fs::remove_file(name).unwrap();
                }
                // A link to nothing would make a file elsewhere.
                symlink(top.join("made"), &link).unwrap();
                assert_eq!(write(&link, b"new").is_ok(), is_followed, "{mode:o}");
                assert_eq!(top.join("made").exists(), is_followed, "{mode:o}");
                fs::remove_file(&link).unwrap();
                let _ = fs::remove_file(top.join("made"));
                if !is_followed {
                    // Opening a pipe without a reader would not end.
                    let pipe = CString::new(link.as_os_str().as_bytes()).unwrap();
                    // SAFETY: a C string.
                    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o666) }, 0);
                    let error = write(&link, b"new").unwrap_err();
                    assert!(error.to_string().contains("no ordinary file"), "{error}");
                    fs::remove_file(&link).unwrap();
                }
            }
        }
        fs::remove_dir_all(&top).unwrap();
        // A device in a folder of the system's.
        write(Path::new("/dev/null"), b"text").unwrap();
        append(Path::new("/dev/null"), b"text").unwrap();
        for path in ["/", "", "..", "/tmp/.."] {
            assert!(write(Path::new(path), b"text").is_err(), "{path:?}");
        }
    }

    #[test]
    fn another_users_file_in_a_shared_folder_is_not_written() {
        let top = folder("owner");
        fs::set_permissions(&top, Permissions::from_mode(0o777)).unwrap();
        let file = top.join("file");
        fs::write(&file, "theirs").unwrap();
        if std::os::unix::fs::chown(&file, Some(12345), None).is_ok() {
            for write in [write as fn(&Path, &[u8]) -> _, append] {
                let error = write(&file, b"ours").unwrap_err().to_string();
                assert!(error.contains("user 12345"), "{error}");
                assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
            }
        } else {
            println!("skipped: only root can give a file away");
        }
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn new_files_have_the_mode_asked_for() {
        let top = folder("mode");
        for (folder_mode, name) in [(0o755, "a"), (0o777, "b")] {
            fs::set_permissions(&top, Permissions::from_mode(folder_mode)).unwrap();
            let file = open(&top.join(name), Content::Kept, 0o600).unwrap();
            assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600, "{name}");
        }
        fs::remove_dir_all(&top).unwrap();
    }
}
