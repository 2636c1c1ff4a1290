//! Walks to a folder, one name after the other, and follows only links that no other user can have created.
//!
//! Invariants
//! - A link is followed if it is this user's or root's, or if only they can write to the folder that holds it.
//! - Links are resolved here and not by the system. The exceptions are those of `/proc`, such as `/proc/self/fd/1`:
//!   their targets have no path.

use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::openat::{denied, open_at};
use crate::user;

/// The kernel's own bound on the links of one path.
const MOST_LINKS: usize = 40;
/// Opens a folder only to walk on. `O_DIRECTORY` triggers automounts.
const FOLDER: i32 = libc::O_PATH | libc::O_DIRECTORY;

/// A name that was not visited yet.
struct Name {
    text: OsString,
    /// The name is in the path itself; other names come from links, and are not created if they are missing.
    is_given: bool,
}

/// The target of a link.
pub(crate) enum Link {
    To(PathBuf),
    /// To an object that only the system finds.
    Inside,
}

pub(crate) struct Walk {
    at: File,
    /// The names that are left, the next one last.
    left: Vec<Name>,
    links: usize,
}

/// Whether only root and this user can write to a folder.
pub(crate) fn is_trusted(folder: &Metadata) -> bool {
    (folder.uid() == 0 || user::owns(folder.uid())) && folder.mode() & 0o022 == 0
}

impl Walk {
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let mut walk = Self {
            at: open_at(libc::AT_FDCWD, OsStr::new("."), FOLDER, 0)?,
            left: Vec::new(),
            links: 0,
        };
        walk.add(path, true)?;
        Ok(walk)
    }

    /// The folder that the walk has come to.
    pub(crate) fn at(&self) -> &File {
        &self.at
    }

    fn add(&mut self, path: &Path, is_given: bool) -> io::Result<()> {
        if path.is_absolute() {
            self.at = open_at(libc::AT_FDCWD, OsStr::new("/"), FOLDER, 0)?;
        }
        for component in path.components().rev() {
            if let Component::Normal(_) | Component::ParentDir = component {
                let text = component.as_os_str().to_owned();
                self.left.push(Name { text, is_given });
            }
        }
        Ok(())
    }

    /// Walks to the folder of the last name, which it returns.
    pub(crate) fn last(&mut self) -> io::Result<OsString> {
        while self.left.len() > 1 {
            self.step(None)?;
        }
        match self.left.pop() {
            Some(name) if name.text != ".." => Ok(name.text),
            _ => Err(io::Error::new(
                ErrorKind::IsADirectory,
                "it is the path of a folder",
            )),
        }
    }

    /// Walks to the end and creates missing folders. Returns whether the last folder is new.
    pub(crate) fn make(&mut self, mode: u32) -> io::Result<bool> {
        let mut is_new = false;
        while !self.left.is_empty() {
            is_new = self.step(Some(mode))?;
        }
        Ok(is_new)
    }

    /// Walks one name on, creating a missing folder with the mode. Returns whether it did.
    fn step(&mut self, mode: Option<u32>) -> io::Result<bool> {
        let Some(Name { text, is_given }) = self.left.pop() else {
            return Ok(false);
        };
        let open = |at: &File| open_at(at.as_raw_fd(), &text, FOLDER | libc::O_NOFOLLOW, 0);
        let mut is_new = false;
        let opened = match (open(&self.at), mode.filter(|_| is_given)) {
            (Err(error), Some(mode)) if error.kind() == ErrorKind::NotFound => {
                is_new = make_at(&self.at, &text, mode)?;
                open(&self.at)
            }
            (opened, _) => opened,
        };
        match opened {
            Ok(folder) => self.at = folder,
            Err(error) if error.raw_os_error() == Some(libc::ENOTDIR) => {
                match self.link(&text)?.ok_or(error)? {
                    Link::To(path) => self.add(&path, false)?,
                    Link::Inside => self.at = open_at(self.at.as_raw_fd(), &text, FOLDER, 0)?,
                }
            }
            Err(error) => return Err(error),
        }
        Ok(is_new)
    }

    /// Continues at the target of a link.
    pub(crate) fn follow(&mut self, path: &Path) -> io::Result<()> {
        self.add(path, false)
    }

    /// The target of the link with that name; `None` if it is not a link.
    ///
    /// # Errors
    /// Another user may have created it.
    pub(crate) fn link(&mut self, name: &OsStr) -> io::Result<Option<Link>> {
        let flags = libc::O_PATH | libc::O_NOFOLLOW;
        let link = open_at(self.at.as_raw_fd(), name, flags, 0)?;
        let data = link.metadata()?;
        if !data.is_symlink() {
            return Ok(None);
        }
        if data.uid() != 0 && !is_trusted(&self.at.metadata()?) {
            let own = user::own().map_err(denied)?;
            if data.uid() != own {
                return Err(denied(format!(
                    "{} is a link of user {}, and other users can write to its folder",
                    name.display(),
                    data.uid()
                )));
            }
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
        if is_of_proc(&link)? {
            return Ok(Some(Link::Inside));
        }
        let mut target = vec![0u8; libc::PATH_MAX as usize];
        let room = target.as_mut_ptr().cast();
        // SAFETY: an empty C string refers to the open link itself; the buffer has the given size.
        let length =
            unsafe { libc::readlinkat(link.as_raw_fd(), c"".as_ptr(), room, target.len()) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        target.truncate(length);
        Ok(Some(Link::To(PathBuf::from(OsString::from_vec(target)))))
    }
}

fn is_of_proc(file: &File) -> io::Result<bool> {
    // SAFETY: zero bytes are a valid structure, which the call fills; the descriptor is open.
    let (code, data) = unsafe {
        let mut data: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &raw mut data), data)
    };
    match code {
        0 => Ok(data.f_type == libc::PROC_SUPER_MAGIC),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Creates a folder; fails if the name exists.
fn make_at(at: &File, name: &OsStr, mode: u32) -> io::Result<bool> {
    let name = CString::new(name.as_bytes())?;
    // SAFETY: a C string and a folder's descriptor that is open.
    if unsafe { libc::mkdirat(at.as_raw_fd(), name.as_ptr(), mode) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        error if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        error => Err(error),
    }
}
