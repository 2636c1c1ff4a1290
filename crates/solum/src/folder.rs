//! Writing files safely: links and files that other users planted are neither followed nor overwritten.
//!
//! Invariants of [`Folder`]
//! - When it is opened, it belongs to this user and nobody else can write to it.
//! - It is held by a descriptor, so a folder that replaces it later is not used.
//! - Inside it no link is followed, only regular files are read, and no existing file is written to.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use owned_file::{Content, make_folders, user};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat, unlinkat};
use signal_mask::name_file_size_limit;
use timeline::file::may_hold_recordings;

/// An open folder that belongs to this user.
pub(crate) struct Folder {
    at: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder; creates it and its parents if missing. Returns whether it is new.
    ///
    /// # Errors
    /// It cannot be created or opened, belongs to another user, is writable by others, or is reached through a link that
    /// another user can have planted.
    pub(crate) fn make(path: &Path) -> io::Result<(Self, bool)> {
        let (place, is_new) = make_folders(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let at = openat(&place, ".", flags, Mode::empty())?;
        let data = fstat(&at)?;
        user::own()
            .and_then(|user| may_hold_recordings(data.st_uid, data.st_mode, user))
            .map_err(denied)?;
        let path = path.canonicalize()?;
        let folder = Self { at, path };
        folder.check_place()?;
        Ok((folder, is_new))
    }

    /// Its path when it was opened, with links resolved.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that its path still leads to it.
    ///
    /// # Errors
    /// The path leads elsewhere or nowhere.
    pub(crate) fn check_place(&self) -> io::Result<()> {
        let held = fstat(&self.at)?;
        match self.path.symlink_metadata() {
            Ok(found) if (found.dev(), found.ino()) == (held.st_dev, held.st_ino) => Ok(()),
            _ => Err(io::Error::other(format!(
                "{} was moved, removed or replaced while the program ran",
                self.path.display()
            ))),
        }
    }

    /// The names in it, unordered.
    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.at)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// Whether an entry of this name exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        statat(&self.at, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// The file does not exist, or is a link, a pipe or another special file.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        // NONBLOCK: opening a pipe without a writer would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let other = || io::Error::other("it is not a regular file");
        let file = match openat(&self.at, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::LOOP) => return Err(other()),
            opened => opened?,
        };
        match is_regular(&fstat(&file)?) {
            true => Ok(File::from(file)),
            false => Err(other()),
        }
    }

    /// Creates a new file.
    ///
    /// # Errors
    /// The name is taken, or the file cannot be created.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.at, name, flags, Mode::from_raw_mode(0o644)) {
            Err(rustix::io::Errno::EXIST) => {
                let shown = self.path.display();
                let text = format!("{name} appeared in {shown} while the program ran");
                Err(io::Error::new(ErrorKind::AlreadyExists, text))
            }
            made => Ok(File::from(made?)),
        }
    }

    /// Removes a file or a link, not the target of the link.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.at, name, AtFlags::empty())?)
    }
}

fn denied(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, reason.into())
}

fn is_regular(data: &Stat) -> bool {
    FileType::from_raw_mode(data.st_mode) == FileType::RegularFile
}

/// Writes a file that the user named and replaces an existing one, as compilers do.
///
/// # Errors
/// It cannot be written, or other users can write to its folder and the existing entry is not a regular file of this
/// user.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let file = owned_file::open(path, Content::Replaced, 0o666);
    file.and_then(|mut file| file.write_all(content))
        .map_err(name_file_size_limit)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::{Folder, write};

    /// In a user namespace without a map every owner reads as the overflow id, and so does the user itself.
    #[test]
    fn what_an_unmapped_user_owns_is_not_ours() {
        const TOP: &str = "SOLUM_TEST_FOLDER_UNMAPPED";
        if let Some(top) = std::env::var_os(TOP) {
            let top = Path::new(&top);
            let error = Folder::make(top).err().unwrap().to_string();
            assert!(error.contains("user namespace"), "{error}");
            let error = Folder::make(&top.join("link")).err().unwrap().to_string();
            assert!(error.contains("user namespace"), "{error}");
            let error = write(&top.join("file"), b"ours").unwrap_err().to_string();
            assert!(error.contains("user namespace"), "{error}");
            return;
        }
        let top = std::env::temp_dir().join(format!("solum-folder-map-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        fs::set_permissions(&top, Permissions::from_mode(0o755)).unwrap();
        fs::write(top.join("file"), "theirs").unwrap();
        fs::set_permissions(top.join("file"), Permissions::from_mode(0o666)).unwrap();
        symlink(&top, top.join("link")).unwrap();
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let test = "folder::tests::what_an_unmapped_user_owns_is_not_ours";
        command
            .args(["--exact", "--nocapture", test])
            .env(TOP, &top);
        let unmapped = || {
            // SAFETY: a system call without memory.
            match unsafe { libc::unshare(libc::CLONE_NEWUSER) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: the function makes one system call.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, unmapped) };
        match command.output() {
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{} {said}", output.status);
                assert_eq!(fs::read_to_string(top.join("file")).unwrap(), "theirs");
            }
            Err(error) => println!("skipped: this system gives no user namespace: {error}"),
        }
        fs::remove_dir_all(&top).unwrap();
    }
}
