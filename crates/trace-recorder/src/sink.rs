//! The recording of this process: a file, mapped chunk by chunk, that every thread appends to without a lock.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use timeline::record::{Attribute, Event, Text};

use crate::recording_file::RecordingFile;
pub use crate::recording_file::now;
pub(crate) use crate::recording_file::say;
use crate::strings::Strings;
use crate::track;

/// Names the folder that recordings go to; unset means that nothing is recorded.
const FOLDER: &str = "SOLUM_TRACE";

/// The open recording.
pub struct Sink {
    file: RecordingFile,
    strings: Strings,
}

static SINK: OnceLock<Option<Sink>> = OnceLock::new();
/// Set in a forked child, which shares the mappings with its parent and must not write to them.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The recording; `None` if it is off or cannot be created (reported once on stderr).
#[inline]
pub fn sink() -> Option<&'static Sink> {
    if FORKED.load(Ordering::Relaxed) {
        return None;
    }
    SINK.get_or_init(open).as_ref()
}

/// Later calls are recorded, too: this only shows that the process was not killed.
extern "C" fn at_exit() {
    finish();
}

extern "C" fn in_child() {
    FORKED.store(true, Ordering::Relaxed);
    track::abandon();
}

/// The value of a variable; `None` when unset or empty, and for programs with elevated privileges.
pub(crate) fn variable(name: &str) -> Option<Vec<u8>> {
    // SAFETY: no pointers.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    let value = std::env::var_os(name)?.into_vec();
    (!value.is_empty()).then_some(value)
}

fn open() -> Option<Sink> {
    let folder = variable(FOLDER)?;
    // Before there is a file: a child of a thread that forks meanwhile must not write to it.
    // SAFETY: the handler only stores to a static; this library stays loaded.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    match RecordingFile::create(&folder) {
        Ok(file) => {
            // SAFETY: the handler only stores to the mapped header; this library stays loaded.
            unsafe { libc::atexit(at_exit) };
            Some(Sink {
                file,
                strings: Strings::new(),
            })
        }
        Err(error) => {
            let folder = OsStr::from_bytes(&folder);
            say(&format!(
                "solum trace: {FOLDER}={}: {error}: nothing is recorded; expected a directory (not a link) that belongs to this user and that no other user can write to\n",
                folder.display()
            ));
            None
        }
    }
}

impl Sink {
    /// Appends a record with the time of now.
    #[inline]
    pub fn emit(&self, event: &Event, attributes: &[Attribute]) {
        self.emit_at(now(), event, attributes);
    }

    /// Appends a record; times of one thread must not run backwards.
    #[inline]
    pub fn emit_at(&self, time: u64, event: &Event, attributes: &[Attribute]) {
        track::append(&self.file, &self.strings, time, event, attributes);
    }

    /// The number of a string, 0 for the empty one.
    pub fn text(&self, bytes: &[u8]) -> Text {
        self.strings.number(&self.file, bytes)
    }
}

/// Records the end of the process, if there is a recording.
pub fn finish() {
    if FORKED.load(Ordering::Relaxed) {
        return;
    }
    if let Some(Some(sink)) = SINK.get() {
        sink.file.finish();
    }
}
