//! The files in which processes of one user show each other their counters.
//!
//! A process's page is the file `solum-usage-USER/PID-RANDOM` below `/dev/shm`. The directory belongs to the user, and
//! no other user can write to it. Where another user has taken its name, `solum-usage-USER.1` and so on serve as well: all
//! of them are read.
//!
//! Head of a page, words in native byte order: magic, version (high 32 bits) and process number, when the process
//! began in the system's ticks, its namespace of process numbers, four words unused.
//!
//! Invariants
//! - A process holds a lock on its page from before the file has its size until the process ends, by its mapping alone.
//!   A page without a lock is a dead process's, in whatever namespace that ran: only such pages are removed, and only the
//!   own user's.
//! - A page counts once for each process. A process whose number and beginning can be verified did no more than its
//!   age allows; of another namespace's, no more than the system's age allows.
//! - A reader looks at [`LOOKED_AT`] names of a directory at most.
//!
//! Only root reads pages of other users, and only those of processes that it can verify.

use crate::random;
use owned_file::user;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Words of a page's head.
pub(super) const HEAD: usize = 8;
const MAGIC: u64 = u64::from_le_bytes(*b"SOLUMUSE");
const VERSION: u32 = 2;
/// Begin of the directories' names.
const PREFIX: &str = "solum-usage-";
/// Names that a user's directory may have. Another user must take all of them to hide this user's processes, which the
/// log then reports.
const DIRECTORIES: usize = 8;
/// Names that a reader looks at in each directory. An unoptimised build reads the pages of 1,000 living processes in
/// 37 ms, and finds that 1,024 of another user's files are no pages in 5 ms.
const LOOKED_AT: usize = 1024;
/// Names that a starting process looks at for pages of killed ones. The pages of 256 living processes cost it 1 ms.
const CLEANED: usize = 256;
/// Other processes may remove a directory or file meanwhile.
const ATTEMPTS: usize = 8;

/// A process, among all that run or ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    /// Of process numbers: its inode. 0 where it is unknown.
    namespace: u64,
    pub(super) pid: u32,
    /// In ticks since the system's. 0 where it is unknown.
    start: u64,
}

impl Identity {
    /// Of this process. Allocates nothing: an exit handler calls it, and a program may call `exit` in a signal handler that has
    /// interrupted the C library's `malloc`.
    pub(super) fn of_this() -> Self {
        // SAFETY: zero bytes are a valid structure of numbers, which the call fills where it succeeds.
        let namespace = unsafe {
            let mut data: libc::stat = std::mem::zeroed();
            libc::stat(c"/proc/self/ns/pid".as_ptr(), &mut data);
            data.st_ino
        };
        let (_, start) = stat_at(c"/proc/self/stat").unwrap_or_default();
        Self {
            namespace,
            pid: std::process::id(),
            start,
        }
    }

    /// As the first words of a page.
    pub(super) fn head(self) -> [u64; HEAD] {
        let version = u64::from(VERSION) << 32 | u64::from(self.pid);
        [MAGIC, version, self.start, self.namespace, 0, 0, 0, 0]
    }

    pub(super) fn of_head(words: &[u64]) -> Option<Self> {
        let (&[magic, version, start, namespace], _) = words.split_first_chunk()?;
        let is_ours = magic == MAGIC && version >> 32 == u64::from(VERSION);
        is_ours.then_some(Self {
            namespace,
            pid: version as u32,
            start,
        })
    }
}

/// A page of another process.
pub(super) struct Peer<'a> {
    pub(super) identity: Identity,
    /// Whether `identity` is a process of this one's namespace that runs now.
    pub(super) verified: bool,
    /// The longest that a thread of it can have worked, in nanoseconds.
    pub(super) age: u64,
    pub(super) words: &'a [u64],
}

/// The folder with all users' directories, as this process sees it.
pub(super) struct Pages {
    folder: PathBuf,
    /// Bytes of a page.
    bytes: usize,
    me: Identity,
    /// `/proc` is there and counts processes as this process does.
    can_verify: bool,
}

/// A mapped file of this process's.
pub(super) struct Published {
    pub(super) memory: *mut libc::c_void,
    pub(super) file: PathBuf,
}

impl Pages {
    /// Pages of that many bytes below `folder`.
    pub(super) fn below(folder: &Path, bytes: usize) -> Self {
        let me = Identity::of_this();
        let listed = stat_of("self").map(|(pid, _)| pid);
        Self {
            folder: folder.to_owned(),
            bytes,
            me,
            can_verify: me.namespace != 0 && me.start != 0 && listed == Some(me.pid),
        }
    }

    /// This process.
    pub(super) fn me(&self) -> Identity {
        self.me
    }

    /// Creates a page for this process, zeroed except for its head, and removes those of killed processes.
    ///
    /// # Errors
    /// Why other processes will not see this one.
    pub(super) fn publish(&self) -> std::result::Result<Published, String> {
        let user = user::own()?;
        let shown = self.folder.display();
        let base = open_base(&self.folder).map_err(|error| format!("{shown}: {error}"))?;
        let mut why = String::new();
        for name in names_of(user) {
            let refused = |error| format!("{shown}/{}: {error}", name.to_string_lossy());
            let at = self.folder.join(file_name(&name));
            for _ in 0..ATTEMPTS {
                let made = own_directory(&base, &name, user)
                    .map(|directory| (self.make(&directory, &at), directory));
                match made {
                    Ok((Ok(page), directory)) => {
                        self.clean(&directory, user);
                        return Ok(page);
                    }
                    // A process that ended took the directory along.
                    Ok((Err(error), _)) | Err(error) if error.kind() == ErrorKind::NotFound => {
                        why = refused(error);
                    }
                    // The system would deny the same in other directories.
                    Ok((Err(error), _)) => {
                        remove_directory(&base, &name);
                        return Err(refused(error));
                    }
                    // The name is already taken.
                    Err(error) => {
                        why = refused(error);
                        break;
                    }
                }
            }
        }
        Err(why)
    }

    /// A page in that directory, whose path is `at`.
    fn make(&self, directory: &File, at: &Path) -> Result<Published> {
        for _ in 0..ATTEMPTS {
            let random = u64::from_ne_bytes(random::bytes()?);
            let text = format!("{}-{random:016x}", self.me.pid);
            let name = CString::new(text.as_str())?;
            let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
            let file = match open_at(directory, &name, flags, 0o600) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            // Until it is locked, another process may take the file for a dead one's, lock it, and remove it.
            let is_mine =
                lock(&file, libc::LOCK_EX).and_then(|own| Ok(own && file.metadata()?.nlink() == 1));
            let memory = is_mine.and_then(|own| own.then(|| self.map(&file)).transpose());
            if let Ok(Some(memory)) = memory {
                let file = at.join(text);
                return Ok(Published { memory, file });
            }
            unlink(directory, &name);
            memory?;
        }
        Err(Error::other(
            "other processes remove the files that are created there",
        ))
    }

    /// Maps a fresh file with all its memory reserved: a full file system must not end the process later. The mapping
    /// keeps the file's lock when the descriptor is closed.
    fn map(&self, file: &File) -> Result<*mut libc::c_void> {
        let reserve = || {
            // SAFETY: a call on our own descriptor.
            match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, self.bytes as libc::off_t) } {
                0 => Ok(()),
                error => Err(Error::from_raw_os_error(error)),
            }
        };
        loop {
            match signal_mask::without_write_signals(reserve) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                reserved => {
                    reserved.map_err(signal_mask::name_file_size_limit)?;
                    break;
                }
            }
        }
        // SAFETY: a new mapping of our own file, kept for the process's life.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                self.bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(memory)
    }

    /// Removes pages of killed processes.
    fn clean(&self, directory: &File, user: u32) {
        for (_, name) in pages_in(directory, CLEANED) {
            self.open_page(directory, &name, user, true);
        }
    }

    /// The page of a living process. A dead process's is removed if `removes`.
    fn open_page(&self, directory: &File, name: &CStr, user: u32, removes: bool) -> Option<File> {
        let file = open_on_same_mount(directory, name, libc::O_RDONLY, removes).ok()?;
        let data = file.metadata().ok()?;
        if !data.is_file() || data.uid() != user || data.nlink() != 1 {
            return None;
        }
        let is_whole = data.len() == self.bytes as u64;
        // A page under construction has no size yet. Only its own user's processes may lock it meanwhile.
        if (is_whole || removes) && lock(&file, libc::LOCK_SH).ok()? {
            if removes {
                unlink(directory, name);
            }
            return None;
        }
        is_whole.then_some(file)
    }

    /// Shows the pages of all other processes that count.
    ///
    /// # Errors
    /// Some pages could not be looked for: nothing can be said of processes that were not shown.
    pub(super) fn visit(&self, mut see: impl FnMut(&Peer<'_>)) -> Result<()> {
        let Ok(user) = user::own() else {
            return Ok(());
        };
        let base = open_base(&self.folder)?;
        let mut seen = HashSet::from([self.me]);
        let mut buffer = Buffer::new(self.bytes);
        for owner in self.users(user) {
            for name in names_of(owner) {
                let directory = match open_directory(&base, &name, owner, owner == user) {
                    Err(error) if is_lack(&error) => return Err(error),
                    Err(_) => continue,
                    Ok(directory) => directory,
                };
                for (pid, name) in pages_in(&directory, LOOKED_AT) {
                    let page = self.open_page(&directory, &name, owner, owner == user);
                    let Some(words) = page.and_then(|page| buffer.read(&page)) else {
                        continue;
                    };
                    let Some(identity) = Identity::of_head(words).filter(|one| one.pid == pid)
                    else {
                        continue;
                    };
                    if seen.contains(&identity) {
                        continue;
                    }
                    // Of other users nothing is believed that is not verified.
                    let (verified, age) = match self.age_of(identity, owner) {
                        Age::Known(age) => (true, age),
                        Age::Unknown if owner == user => (false, nanoseconds_up()),
                        // A child of an ended process may hold the lock on its page.
                        Age::Unknown | Age::Ended => continue,
                    };
                    if seen.insert(identity) {
                        see(&Peer {
                            identity,
                            verified,
                            age,
                            words,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a process that was shown before runs still.
    pub(super) fn is_alive(&self, identity: Identity) -> bool {
        user::own().is_ok_and(|user| matches!(self.age_of(identity, user), Age::Known(_)))
    }

    /// Users whose pages this process reads.
    fn users(&self, user: u32) -> BTreeSet<u32> {
        let mut users = BTreeSet::from([user]);
        if user == 0 {
            let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
            let processes = entries.filter(|entry| {
                let name = entry.file_name();
                name.as_bytes().iter().all(u8::is_ascii_digit)
            });
            let owners = processes.filter_map(|one| Some(one.metadata().ok()?.uid()));
            // The number that all unknown users share verifies no user.
            users.extend(owners.filter(|owner| !user::is_unknown(*owner)));
        }
        users
    }

    /// How long a process has run. The process of another user has the rights of `owner`; a process that writes to the
    /// own user's directory is trusted.
    fn age_of(&self, identity: Identity, owner: u32) -> Age {
        if !self.can_verify || identity.namespace != self.me.namespace {
            return Age::Unknown;
        }
        let process = identity.pid.to_string();
        let found = stat_of(&process).filter(|(_, start)| *start == identity.start);
        let Some((_, start)) = found else {
            return Age::Ended;
        };
        if owner != user::effective() && effective_user_of(&process) != Some(owner) {
            return Age::Unknown;
        }
        // The tick in which it began may have begun earlier.
        let began = start.saturating_mul(nanoseconds_of_a_tick());
        Age::Known(nanoseconds_up().saturating_sub(began))
    }
}

/// For how long a process has run.
enum Age {
    /// In nanoseconds.
    Known(u64),
    /// The process cannot be seen from here, or its page is not its own.
    Unknown,
    Ended,
}

/// The words of a file of this size and type.
struct Buffer {
    bytes: Vec<u8>,
    words: Vec<u64>,
}

impl Buffer {
    fn new(bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            words: Vec::with_capacity(bytes / 8),
        }
    }

    fn read(&mut self, file: &File) -> Option<&[u64]> {
        file.read_exact_at(&mut self.bytes, 0).ok()?;
        let words = self.bytes.as_chunks::<8>().0.iter();
        self.words.clear();
        self.words
            .extend(words.map(|word| u64::from_ne_bytes(*word)));
        Some(&self.words)
    }
}

/// Removes a page that this process published, and its user's directory with the last one.
pub(super) fn remove(file: &CStr, directory: &CStr) {
    // SAFETY: C strings. A directory with files in it stays.
    unsafe {
        libc::unlink(file.as_ptr());
        libc::rmdir(directory.as_ptr());
    }
}

/// Names of a user's directories.
fn names_of(user: u32) -> impl Iterator<Item = CString> {
    let name = move |number| match number {
        0 => format!("{PREFIX}{user}"),
        _ => format!("{PREFIX}{user}.{number}"),
    };
    // No name holds a zero byte.
    (0..DIRECTORIES).filter_map(move |number| CString::new(name(number)).ok())
}

fn file_name(name: &CStr) -> &std::ffi::OsStr {
    std::ffi::OsStr::from_bytes(name.to_bytes())
}

fn open_base(folder: &Path) -> Result<File> {
    File::options()
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_CLOEXEC)
        .open(folder)
}

/// The user's directory of that name, made if there is nothing.
fn own_directory(base: &File, name: &CStr, user: u32) -> Result<File> {
    match open_directory(base, name, user, true) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    // SAFETY: a C string and an open directory.
    if unsafe { libc::mkdirat(base.as_raw_fd(), name.as_ptr(), 0o700) } != 0 {
        let error = Error::last_os_error();
        // Another process created it.
        if error.kind() != ErrorKind::AlreadyExists {
            return Err(error);
        }
    }
    open_directory(base, name, user, true)
}

/// Opens a name without following links or leaving the file system: another user may have mounted one of its own there,
/// which could make a reader wait.
fn open_on_same_mount(directory: &File, name: &CStr, flags: i32, is_own: bool) -> Result<File> {
    let flags = flags | libc::O_NOFOLLOW;
    // SAFETY: zero bytes are a valid structure of numbers.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (flags | libc::O_CLOEXEC | libc::O_NONBLOCK) as u64;
    how.resolve = libc::RESOLVE_NO_XDEV | libc::RESOLVE_NO_SYMLINKS;
    // SAFETY: a C string, an open directory, and a structure of the size that is passed.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_openat2,
            directory.as_raw_fd(),
            name.as_ptr(),
            &raw const how,
            size_of::<libc::open_how>(),
        )
    };
    match RawFd::try_from(descriptor) {
        // SAFETY: just opened, and owned by no other value.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { File::from_raw_fd(descriptor) }),
        _ => {
            let error = Error::last_os_error();
            // Systems before Linux 5.6, and sandboxes that know no newer call. Other users cannot mount onto this user's directory.
            let is_unknown = matches!(
                error.raw_os_error(),
                Some(libc::ENOSYS | libc::EPERM | libc::EINVAL)
            );
            if !is_own || !is_unknown {
                return Err(error);
            }
            open_at(directory, name, flags, 0)
        }
    }
}

/// A directory that belongs to `owner` and that no other user can write to.
fn open_directory(base: &File, name: &CStr, owner: u32, is_own: bool) -> Result<File> {
    let directory = open_on_same_mount(base, name, libc::O_RDONLY | libc::O_DIRECTORY, is_own)?;
    let data = directory.metadata()?;
    if data.uid() != owner {
        let why = format!("it belongs to user {}", data.uid());
        return Err(Error::new(ErrorKind::PermissionDenied, why));
    }
    if data.mode() & 0o022 != 0 {
        let why = "other users can write to it";
        return Err(Error::new(ErrorKind::PermissionDenied, why));
    }
    Ok(directory)
}

fn open_at(directory: &File, name: &CStr, flags: i32, mode: libc::c_uint) -> Result<File> {
    let flags = flags | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: a C string and an open directory; a new descriptor is owned by no other value.
    unsafe {
        let descriptor = libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, mode);
        if descriptor < 0 {
            return Err(Error::last_os_error());
        }
        Ok(File::from_raw_fd(descriptor))
    }
}

/// Whether a later attempt may find more.
fn is_lack(error: &Error) -> bool {
    let lacks = [libc::EMFILE, libc::ENFILE, libc::ENOMEM];
    error
        .raw_os_error()
        .is_some_and(|code| lacks.contains(&code))
}

fn unlink(directory: &File, name: &CStr) {
    // SAFETY: a C string and an open directory.
    unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) };
}

/// Removes a directory without files.
fn remove_directory(base: &File, name: &CStr) {
    // SAFETY: a C string and an open directory.
    unsafe { libc::unlinkat(base.as_raw_fd(), name.as_ptr(), libc::AT_REMOVEDIR) };
}

/// Locks a file. Returns false if another process holds a conflicting lock.
fn lock(file: &File, kind: i32) -> Result<bool> {
    // SAFETY: a call on our own descriptor.
    if unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match Error::last_os_error() {
        error if error.kind() == ErrorKind::WouldBlock => Ok(false),
        error => Err(error),
    }
}

/// Process numbers and names of the pages among the first `most` names of a directory.
fn pages_in(directory: &File, most: usize) -> Vec<(u32, CString)> {
    let mut pages = Vec::new();
    let Ok(descriptor) = directory.try_clone().map(|file| file.into_raw_fd()) else {
        return pages;
    };
    // SAFETY: a descriptor that is given to the list, or closed if there is none. An entry's name is read before the next
    // entry is read.
    unsafe {
        let list = libc::fdopendir(descriptor);
        if list.is_null() {
            libc::close(descriptor);
            return pages;
        }
        for _ in 0..most {
            let entry = libc::readdir(list);
            if entry.is_null() {
                break;
            }
            let name = CStr::from_ptr((*entry).d_name.as_ptr());
            if let Some(pid) = process_of(name.to_bytes()) {
                pages.push((pid, name.to_owned()));
            }
        }
        libc::closedir(list);
    }
    pages
}

/// The process in a page's name: each page has one valid name.
fn process_of(name: &[u8]) -> Option<u32> {
    let (pid, random) = std::str::from_utf8(name).ok()?.split_once('-')?;
    let is_lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_number = pid.bytes().all(|byte| byte.is_ascii_digit()) && !pid.starts_with('0');
    (is_number && random.len() == 16 && random.bytes().all(is_lower)).then_some(())?;
    pid.parse().ok()
}

/// A process's number, and when it began in ticks since the system did, as `/proc` has them.
fn stat_of(process: &str) -> Option<(u32, u64)> {
    stat_at(&CString::new(format!("/proc/{process}/stat")).ok()?)
}

/// As [`stat_of`], from the file of that name. Allocates nothing.
fn stat_at(path: &CStr) -> Option<(u32, u64)> {
    // The 22 fields in question take at most 460 bytes.
    let mut text = [0_u8; 512];
    // SAFETY: a C string; the descriptor is closed again; the buffer has the length that is passed.
    let read = unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let read = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        read
    };
    start_in(text.get(..usize::try_from(read).ok()?)?)
}

/// Number and start time of a process, from the text of its `stat`.
fn start_in(text: &[u8]) -> Option<(u32, u64)> {
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    let pid = number(text.split(|byte| *byte == b' ').next()?)?;
    // The name, in brackets, may hold any bytes; field 22 is the 20th after it.
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let fields = text[after..].split(|byte| *byte == b' ');
    let start = fields.filter(|field| !field.is_empty()).nth(19)?;
    Some((pid.try_into().ok()?, number(start)?))
}

/// The owner of `/proc/PID` is root for processes that changed their user.
fn effective_user_of(process: &str) -> Option<u32> {
    let text = fs::read(format!("/proc/{process}/status")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let users = text.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    users.split_whitespace().nth(1)?.parse().ok()
}

fn nanoseconds_of_a_tick() -> u64 {
    static TICK: OnceLock<u64> = OnceLock::new();
    *TICK.get_or_init(|| {
        // SAFETY: a call without memory.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1)
    })
}

/// How long the system has run, also while it slept.
fn nanoseconds_up() -> u64 {
    // SAFETY: zero bytes are a valid `timespec`, which the call fills.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time);
        time
    };
    (time.tv_sec as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(time.tv_nsec as u64)
}

/// Processors that the system may have.
pub(super) fn processors() -> u64 {
    static COUNT: OnceLock<u64> = OnceLock::new();
    *COUNT.get_or_init(|| {
        // SAFETY: a call without memory.
        let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        u64::try_from(count).unwrap_or(1).max(1)
    })
}

/// Bytes of memory that the machine has.
pub(super) fn memory() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let number = |name| {
            // SAFETY: a call without memory.
            u64::try_from(unsafe { libc::sysconf(name) }).unwrap_or(0)
        };
        number(libc::_SC_PHYS_PAGES).saturating_mul(number(libc::_SC_PAGESIZE))
    })
}

#[cfg(test)]
mod tests;
