//! Descriptors of memory that handles were given out for.

use crate::check::lock;
use crate::core::shared_file::{self, Part, Purpose};
use crate::device::{ExportError, NoFile};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Descriptors that were given out, by the address or physical memory that they stand for. They are the driver's, and
/// closed when the handle is put back or the memory is freed.
pub(crate) struct Exports {
    /// Number of entries: a free asks only this when nothing is exported.
    count: AtomicUsize,
    all: Mutex<BTreeMap<usize, Export>>,
}

/// Those of this process.
pub(crate) static EXPORTS: Exports = Exports {
    count: AtomicUsize::new(0),
    all: Mutex::new(BTreeMap::new()),
};

/// The only reason why a descriptor cannot be copied.
pub(crate) const TOO_MANY: ExportError = ExportError::NoFile(NoFile {
    errno: libc::EMFILE,
});

struct Export {
    file: Option<OwnedFd>,
    handle: shared_file::HandleBytes,
}

impl Drop for Export {
    fn drop(&mut self) {
        // A program that closed the descriptor itself may have another file under its number by now.
        if let Some(file) = self.file.take()
            && !shared_file::is_of(file.as_fd(), &self.handle)
        {
            let _ = file.into_raw_fd();
        }
    }
}

impl Exports {
    /// The handle of the memory known as `key`; `make` gives its file the first time.
    pub(crate) fn give(
        &self,
        key: usize,
        make: impl FnOnce() -> Result<(OwnedFd, Part), ExportError>,
    ) -> Result<shared_file::HandleBytes, ExportError> {
        let mut all = lock(&self.all);
        let export = match all.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let (file, part) = make()?;
                let file = shared_file::mark(file, part).map_err(|why| NoFile {
                    errno: why.raw_os_error().unwrap_or(libc::EMFILE),
                })?;
                let handle = shared_file::encode(Purpose::Memory, file.as_fd(), part);
                let handle = handle.ok_or(TOO_MANY)?;
                self.count.fetch_add(1, Ordering::Relaxed);
                place.insert(Export {
                    file: Some(file),
                    handle,
                })
            }
        };
        Ok(export.handle)
    }

    /// Closes what the memory known as `key` was exported by: it is freed.
    pub(crate) fn forget(&self, key: usize) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut all = lock(&self.all);
        all.remove(&key);
        self.count.store(all.len(), Ordering::Relaxed);
    }

    /// Closes what a handle holds.
    pub(crate) fn put(&self, handle: &shared_file::HandleBytes) {
        let mut all = lock(&self.all);
        all.retain(|_, export| !shared_file::is_same_export(&export.handle, handle));
        self.count.store(all.len(), Ordering::Relaxed);
    }

    /// Whether a descriptor number is one that was given out.
    pub(crate) fn has(&self, descriptor: i32) -> bool {
        let all = lock(&self.all);
        all.values()
            .any(|export| shared_file::descriptor(&export.handle) == descriptor)
    }
}
