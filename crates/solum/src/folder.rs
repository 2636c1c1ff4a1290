//! Files that `solum` writes: nothing that other users can put in their way is followed or overwritten.
//!
//! Invariants of [`Folder`]
//! - When it is opened it belongs to this user, and nobody else can write to it.
//! - It is held by a descriptor: a folder that comes in its place later gets nothing.
//! - In it no link is followed, nothing but ordinary files is read, and nothing that exists is written to.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat, unlinkat,
};
use timeline::file::may_hold_recordings;

/// An open folder of this user.
pub(crate) struct Folder {
    at: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens it, and makes it and its parents if it is missing; whether it is new.
    ///
    /// # Errors
    /// It cannot be made or opened, belongs to another user, can be written to by others, or is behind another user's link.
    pub(crate) fn make(path: &Path) -> io::Result<(Self, bool)> {
        // Without a slash at the end, which would have the system follow a link.
        let path: PathBuf = path.components().collect();
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        // Whatever the umask is, nobody else gets the right to write.
        let is_new = match DirBuilder::new().mode(0o755).create(&path) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(error),
        };
        let at = open(&path)?;
        let data = fstat(&at)?;
        own()
            .and_then(|user| may_hold_recordings(data.st_uid, data.st_mode, user))
            .map_err(denied)?;
        let path = path.canonicalize()?;
        let folder = Self { at, path };
        folder.check_place()?;
        Ok((folder, is_new))
    }

    /// The path that led to it when it was opened, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// That its path still leads to it.
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

    /// The names in it, in no order.
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

    /// Whether anything has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        statat(&self.at, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Opens an ordinary file for reading.
    ///
    /// # Errors
    /// There is none of this name, or something else, such as a link or a pipe.
    pub(crate) fn read(&self, name: &OsStr) -> io::Result<File> {
        // A pipe without a writer would be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let other = || io::Error::other("it is no ordinary file");
        let file = match openat(&self.at, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::LOOP) => return Err(other()),
            opened => opened?,
        };
        match is_ordinary(&fstat(&file)?) {
            true => Ok(File::from(file)),
            false => Err(other()),
        }
    }

    /// Makes a file that was not there.
    ///
    /// # Errors
    /// Something has this name already, or the file cannot be made.
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

    /// Removes a file or a link, not what the link leads to.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.at, name, AtFlags::empty())?)
    }
}

/// The user whose files count as this process's own, else why there is none.
fn own() -> Result<u32, String> {
    timeline::user::own(rustix::process::geteuid().as_raw())
}

fn denied(reason: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, reason.into())
}

/// Opens a folder; a link to one is followed if it is this user's or root's.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let error = match openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(folder) => return Ok(folder),
        Err(error) => error,
    };
    let data = path.symlink_metadata()?;
    if !data.is_symlink() {
        return Err(error.into());
    }
    if data.uid() != 0 && data.uid() != own().map_err(denied)? {
        return Err(denied(format!("it is a link of user {}", data.uid())));
    }
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

fn is_ordinary(data: &Stat) -> bool {
    FileType::from_raw_mode(data.st_mode) == FileType::RegularFile
}

/// Writes a file that the user named, over one that exists, as compilers do.
///
/// # Errors
/// It cannot be written. Or other users can write to its folder, and what has this name there is no ordinary file of
/// this user.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return fs::write(path, content);
    };
    let folder = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, flags, Mode::empty())?;
    let data = fstat(&folder)?;
    let user = own();
    let is_trusted = data.st_uid == 0 || user.as_ref() == Ok(&data.st_uid);
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    if is_trusted && data.st_mode & 0o022 == 0 {
        // Links and devices there are the user's or the system's own, such as /dev/stdout.
        let file = openat(&folder, name, flags | OFlags::CREATE | OFlags::TRUNC, mode)?;
        return File::from(file).write_all(content);
    }
    let other = || denied("it is no ordinary file, and other users can write to its folder");
    match openat(&folder, name, flags | OFlags::CREATE | OFlags::EXCL, mode) {
        Err(rustix::io::Errno::EXIST) => {}
        made => return File::from(made?).write_all(content),
    }
    // Nothing is cut or written before it is known that this is an ordinary file of this user without a second name.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match openat(&folder, name, flags, Mode::empty()) {
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO) => return Err(other()),
        opened => opened?,
    };
    let data = fstat(&file)?;
    if !is_ordinary(&data) || data.st_nlink != 1 {
        return Err(other());
    }
    if data.st_uid != user.map_err(denied)? {
        return Err(denied(format!(
            "it belongs to user {}, and other users can write to its folder",
            data.st_uid
        )));
    }
    let mut file = File::from(file);
    file.set_len(0)?;
    file.write_all(content)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::{Folder, write};

    #[test]
    fn a_file_of_another_user_in_a_shared_folder_is_not_written() {
        let top = std::env::temp_dir().join(format!("solum-folder-owner-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        fs::set_permissions(&top, Permissions::from_mode(0o777)).unwrap();
        let file = top.join("file");
        fs::write(&file, "theirs").unwrap();
        if std::os::unix::fs::chown(&file, Some(12345), None).is_ok() {
            let error = write(&file, b"ours").unwrap_err().to_string();
            assert!(error.contains("user 12345"), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
        } else {
            println!("skipped: only root can give a file away");
        }
        fs::remove_dir_all(&top).unwrap();
    }

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

    #[test]
    fn links_in_shared_folders_are_not_written_through() {
        let top = std::env::temp_dir().join(format!("solum-folder-{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        let file = top.join("own");
        let shared = top.join("shared");
        fs::write(&file, "precious").unwrap();
        fs::create_dir(&shared).unwrap();
        for (mode, is_followed) in [
            (0o777, false),
            (0o775, false),
            (0o1777, false),
            (0o755, true),
        ] {
            fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
            fs::write(&file, "precious").unwrap();
            let plain = shared.join("plain");
            for content in ["longer", "short"] {
                write(&plain, content.as_bytes()).unwrap();
                assert_eq!(fs::read_to_string(&plain).unwrap(), content, "{mode:o}");
            }
            let link = shared.join("link");
            let second = shared.join("second");
            symlink(&file, &link).unwrap();
            fs::hard_link(&file, &second).unwrap();
            for name in [&link, &second] {
                let written = write(name, b"new");
                assert_eq!(written.is_ok(), is_followed, "{mode:o}: {written:?}");
                let found = fs::read_to_string(&file).unwrap();
                assert_eq!(found == "new", is_followed, "{mode:o}: {found}");
                fs::remove_file(name).unwrap();
            }
            // A link to nothing would make a file elsewhere.
            symlink(top.join("made"), &link).unwrap();
            assert_eq!(write(&link, b"new").is_ok(), is_followed, "{mode:o}");
            assert_eq!(top.join("made").exists(), is_followed, "{mode:o}");
            fs::remove_file(&link).unwrap();
        }
        fs::remove_dir_all(&top).unwrap();
        // What is no file at all in a folder of the system's.
        write(Path::new("/dev/null"), b"text").unwrap();
        assert!(write(Path::new("/"), b"text").is_err());
    }
}
