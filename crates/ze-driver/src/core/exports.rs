//! Descriptors of exported memory.

use crate::check::lock;
use crate::core::shared_file::{self, Part, Purpose};
use crate::device::{ExportError, NoFile};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Exported descriptors by allocation address or physical memory. The driver owns them, and closes one when its handle is
/// put back or the memory is freed.
pub(crate) struct Exports {
    /// Number of entries, so that a free needs no lock when nothing is exported.
    count: AtomicUsize,
    all: Mutex<BTreeMap<usize, Export>>,
}

/// The exports of this process.
pub(crate) static EXPORTS: Exports = Exports {
    count: AtomicUsize::new(0),
    all: Mutex::new(BTreeMap::new()),
};

/// The only reason for which copying a descriptor fails.
pub(crate) const TOO_MANY: ExportError = ExportError::NoFile(NoFile {
    errno: libc::EMFILE,
});

struct Export {
    file: Option<OwnedFd>,
    handle: shared_file::HandleBytes,
}

impl Drop for Export {
    fn drop(&mut self) {
        // The program may have closed the descriptor itself, and the number may be another file's by now.
        if let Some(file) = self.file.take()
            && !shared_file::is_of(file.as_fd(), &self.handle)
        {
            let _ = file.into_raw_fd();
        }
    }
}

impl Exports {
    /// The handle of the memory `key`; `make` returns its file at the first export.
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

    /// Closes the descriptor of the memory `key`, which is freed.
    pub(crate) fn forget(&self, key: usize) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut all = lock(&self.all);
        all.remove(&key);
        self.count.store(all.len(), Ordering::Relaxed);
    }

    /// Closes the descriptor of a handle.
    pub(crate) fn put(&self, handle: &shared_file::HandleBytes) {
        let mut all = lock(&self.all);
        all.retain(|_, export| !shared_file::is_same_export(&export.handle, handle));
        self.count.store(all.len(), Ordering::Relaxed);
    }

    /// Whether a descriptor number was exported.
    pub(crate) fn has(&self, descriptor: i32) -> bool {
        let all = lock(&self.all);
        all.values()
            .any(|export| shared_file::descriptor(&export.handle) == descriptor)
    }
}
