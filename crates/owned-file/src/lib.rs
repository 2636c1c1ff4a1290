//! Files that the user names and that Solum writes, such as logs and reports: no other user can redirect or delay the
//! write.
//!
//! ```no_run
//! use std::{io::Write as _, path::Path};
//!
//! let mut log = owned_file::open(Path::new("solum.log"), owned_file::Content::Kept, 0o600)?;
//! writeln!(log, "one line")?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Invariants
//! - On the path to a file's folder, and to a new folder, a link is followed if it is this user's or root's, or if only
//!   they can write to the folder that contains it.
//! - In a folder that other users can write to, only a new file, or an ordinary file of this user without a second
//!   name, is opened. No link is followed there, and no pipe is waited for.
//! - A file is truncated only after it passed these checks.
//! - In a folder that only this user or root can write to, links and devices are followed: they are the user's own or
//!   the system's, such as `/dev/stdout`. The target folder of a link is checked as well.
//!
//! Not here: folders that are held open (`solum`'s traces, the driver's cache).

mod openat;
pub mod user;
mod walk;

use std::ffi::{CString, OsStr};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use openat::{denied, open_at};
use walk::{Link, Walk};

/// How an existing file is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// It goes.
    Replaced,
    /// The content is kept; each write appends.
    Kept,
}

/// Opens a file for writing; a new one gets the mode, minus the umask.
///
/// # Errors
/// The file cannot be opened, or another user may have put a link on the path. Or other users can write to its folder,
/// and the entry there is not an ordinary file of this user.
pub fn open(path: &Path, content: Content, mode: u32) -> io::Result<File> {
    let mut walk = Walk::begin(path)?;
    let flags = match content {
        Content::Replaced => libc::O_WRONLY | libc::O_NOCTTY,
        Content::Kept => libc::O_WRONLY | libc::O_NOCTTY | libc::O_APPEND,
    };
    loop {
        let name = walk.last()?;
        if !walk::is_trusted(&walk.at().metadata()?) {
            return open_shared(walk.at(), &name, content, flags, mode);
        }
        let cut = match content {
            Content::Replaced => libc::O_TRUNC,
            Content::Kept => 0,
        };
        let flags = flags | libc::O_CREAT | cut;
        let at = walk.at().as_raw_fd();
        match open_at(at, &name, flags | libc::O_NOFOLLOW, mode) {
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                match walk.link(&name)?.ok_or(error)? {
                    Link::To(path) => walk.follow(&path)?,
                    Link::Inside => return open_at(walk.at().as_raw_fd(), &name, flags, mode),
                }
            }
            opened => return opened,
        }
    }
}

/// Opens a file in a folder that other users can write to.
fn open_shared(
    folder: &File,
    name: &OsStr,
    content: Content,
    flags: i32,
    mode: u32,
) -> io::Result<File> {
    let at = folder.as_raw_fd();
    match open_at(at, name, flags | libc::O_CREAT | libc::O_EXCL, mode) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let other = || denied("it is not a regular file, and other users can write to its folder");
    let file = match open_at(at, name, flags | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0) {
        // A link; a pipe without a reader, or a socket.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENXIO)) => {
            return Err(other());
        }
        opened => opened?,
    };
    let data = file.metadata()?;
    if !data.is_file() || !is_only_name(folder, name, &data)? {
        return Err(other());
    }
    if data.uid() != user::own().map_err(denied)? {
        return Err(denied(format!(
            "it belongs to user {}, and other users can write to its folder",
            data.uid()
        )));
    }
    if content == Content::Replaced {
        file.set_len(0)?;
    }
    Ok(file)
}

/// Whether a file has only this name. Another user may give our file a name in a shared folder and remove it after it
/// was opened: it then has one name, in another folder.
fn is_only_name(folder: &File, name: &OsStr, data: &Metadata) -> io::Result<bool> {
    let name = CString::new(name.as_bytes())?;
    // SAFETY: zero bytes are a valid structure, which the call fills; a C string; the folder's descriptor is open.
    let (code, found) = unsafe {
        let mut found: libc::stat = std::mem::zeroed();
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        let at = folder.as_raw_fd();
        (
            libc::fstatat(at, name.as_ptr(), &raw mut found, flags),
            found,
        )
    };
    if code != 0 {
        return match io::Error::last_os_error() {
            error if error.kind() == ErrorKind::NotFound => Ok(false),
            error => Err(error),
        };
    }
    let is_same = (found.st_dev, found.st_ino) == (data.dev(), data.ino());
    Ok(is_same && data.nlink() == 1 && found.st_nlink == 1)
}

/// Opens a folder, and creates it and its parents if they are missing, writable for this user only. Returns a
/// descriptor for paths below it (`O_PATH`), and whether it is new.
///
/// # Errors
/// It cannot be created, or another user may have put a link on the path.
pub fn make_folders(path: &Path) -> io::Result<(OwnedFd, bool)> {
    let mut walk = Walk::begin(path)?;
    let is_new = walk.make(0o755)?;
    Ok((walk.at().try_clone()?.into(), is_new))
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
                // A dangling link would create a file elsewhere.
                symlink(top.join("made"), &link).unwrap();
                assert_eq!(write(&link, b"new").is_ok(), is_followed, "{mode:o}");
                assert_eq!(top.join("made").exists(), is_followed, "{mode:o}");
                fs::remove_file(&link).unwrap();
                let _ = fs::remove_file(top.join("made"));
                if !is_followed {
                    // Opening a pipe without a reader would block.
                    let pipe = CString::new(link.as_os_str().as_bytes()).unwrap();
                    // SAFETY: a C string.
                    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o666) }, 0);
                    let error = write(&link, b"new").unwrap_err();
                    assert!(error.to_string().contains("not a regular file"), "{error}");
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

    /// Another user's: only root can give something away.
    fn give_away(path: &Path) -> bool {
        let is_given = std::os::unix::fs::lchown(path, Some(12345), None).is_ok();
        if !is_given {
            println!("skipped: only root can give a file away");
        }
        is_given
    }

    #[test]
    fn links_of_other_users_on_the_path_are_not_followed() {
        let top = folder("way");
        let (shared, own) = (top.join("shared"), top.join("own"));
        for path in [&shared, &own, &own.join("below")] {
            fs::create_dir(path).unwrap();
        }
        symlink(&own, shared.join("logs")).unwrap();
        symlink("logs/below", shared.join("short")).unwrap();
        // A link of one's own in a folder of one's own leads on to the other's.
        symlink(shared.join("logs/file"), own.join("mine")).unwrap();
        let paths = [
            shared.join("logs/file"),
            shared.join("logs/below/../file"),
            shared.join("short/../file"),
            own.join("mine"),
        ];
        // Whether the link and its folder are another user's, and the folder's mode.
        for (is_theirs, is_folder_theirs, mode, is_followed) in [
            (false, false, 0o777, true),
            (false, false, 0o755, true),
            (true, false, 0o755, true),
            (true, false, 0o777, false),
            (true, false, 0o1777, false),
            (true, false, 0o775, false),
            (true, true, 0o755, false),
            (false, true, 0o755, true),
        ] {
            if is_theirs && !give_away(&shared.join("logs")) {
                break;
            }
            if !is_theirs {
                fs::remove_file(shared.join("logs")).unwrap();
                symlink(&own, shared.join("logs")).unwrap();
            }
            let owner = if is_folder_theirs {
                12345
            } else {
                user::effective()
            };
            if std::os::unix::fs::chown(&shared, Some(owner), None).is_err() {
                break;
            }
            fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
            let what = format!("{is_theirs} {is_folder_theirs} {mode:o}");
            for path in &paths {
                fs::write(own.join("file"), "precious").unwrap();
                let written = write(path, b"new");
                assert_eq!(written.is_ok(), is_followed, "{what} {path:?}: {written:?}");
                let content = fs::read_to_string(own.join("file")).unwrap();
                assert_eq!(content != "precious", is_followed, "{what} {path:?}");
                if let Err(error) = written {
                    assert!(
                        error.to_string().contains("logs is a link of user 12345"),
                        "{error}"
                    );
                }
            }
            let made = make_folders(&shared.join("logs/a/b")).map(|(_, is_new)| is_new);
            assert_eq!(made.ok(), is_followed.then_some(true), "{what}");
            assert_eq!(own.join("a/b").exists(), is_followed, "{what}");
            let _ = fs::remove_dir_all(own.join("a"));
        }
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn link_cycles_are_an_error() {
        let top = folder("circle");
        symlink("circle", top.join("circle")).unwrap();
        fs::create_dir(top.join("0")).unwrap();
        for number in 1..=41 {
            symlink((number - 1).to_string(), top.join(number.to_string())).unwrap();
        }
        write(&top.join("40/file"), b"text").unwrap();
        for path in ["41/file", "circle/file", "circle"] {
            let error = write(&top.join(path), b"text").unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ELOOP), "{path}");
        }
        fs::write(top.join("plain"), "").unwrap();
        let error = write(&top.join("plain/file"), b"text").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTDIR));
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn descriptors_have_paths() {
        let top = folder("descriptor");
        let file = File::create(top.join("file")).unwrap();
        let below = File::open(&top).unwrap();
        let (file, below) = (file.as_raw_fd(), below.as_raw_fd());
        for (path, name) in [
            (format!("/dev/fd/{file}"), "file"),
            (format!("/proc/self/fd/{file}"), "file"),
            (format!("/proc/thread-self/fd/{below}/new"), "new"),
            (
                format!(
                    "/dev/fd/{below}/../{}/up",
                    top.file_name().unwrap().display()
                ),
                "up",
            ),
        ] {
            fs::write(top.join("file"), "older and longer").unwrap();
            write(Path::new(&path), b"text").unwrap();
            assert_eq!(
                fs::read_to_string(top.join(name)).unwrap(),
                "text",
                "{path}"
            );
        }
        // A pipe has no name that could be opened.
        let (reader, writer) = io::pipe().unwrap();
        append(
            Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())),
            b"text",
        )
        .unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(reader).unwrap(), "text");
        append(Path::new("/dev/stdout"), b"").unwrap();
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn folders_are_created_on_the_path() {
        let top = folder("make");
        for (path, is_new) in [
            ("a/b/c", true),
            ("a/b/c", false),
            ("a/../a/d", true),
            ("", false),
        ] {
            let (made, found) = make_folders(&top.join(path)).unwrap();
            assert_eq!(found, is_new, "{path}");
            let (made, there) = (File::from(made).metadata(), top.join(path).metadata());
            assert_eq!(made.unwrap().ino(), there.unwrap().ino(), "{path}");
        }
        assert_eq!(top.join("a/b").metadata().unwrap().mode() & 0o022, 0);
        // Nothing is created through a dangling link.
        symlink("missing", top.join("link")).unwrap();
        for path in ["link", "link/below"] {
            let error = make_folders(&top.join(path)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{path}");
        }
        assert!(!top.join("missing").exists());
        fs::write(top.join("file"), "").unwrap();
        let error = make_folders(&top.join("file")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotADirectory);
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn a_file_whose_name_is_gone_has_another() {
        let top = folder("names");
        let at = File::open(&top).unwrap();
        let (file, elsewhere) = (top.join("file"), top.join("elsewhere"));
        let is_only = |data: &Metadata| is_only_name(&at, OsStr::new("file"), data).unwrap();
        fs::write(&file, "").unwrap();
        let data = file.metadata().unwrap();
        assert!(is_only(&data));
        // Opened under one name; it has a second one by now.
        fs::hard_link(&file, &elsewhere).unwrap();
        assert!(!is_only(&data));
        fs::remove_file(&file).unwrap();
        assert!(!is_only(&data));
        fs::write(&file, "").unwrap();
        assert!(!is_only(&data));
        symlink("elsewhere", top.join("link")).unwrap();
        fs::rename(top.join("link"), &file).unwrap();
        assert!(!is_only(&data));
        fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn new_files_have_the_requested_mode() {
        let top = folder("mode");
        for (folder_mode, name) in [(0o755, "a"), (0o777, "b")] {
            fs::set_permissions(&top, Permissions::from_mode(folder_mode)).unwrap();
            let file = open(&top.join(name), Content::Kept, 0o600).unwrap();
            assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600, "{name}");
        }
        fs::remove_dir_all(&top).unwrap();
    }
}
