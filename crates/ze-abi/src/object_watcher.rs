//! A watcher of the program's objects: `solum check` learns from it what is never destroyed, and what is used afterwards.
//!
//! Without a watcher each creation and destruction costs a load and a branch; other calls cost nothing.

use std::any::Any;
use std::sync::OnceLock;

/// Told by any thread.
pub trait ObjectWatcher: Send + Sync {
    /// The program gets a handle of a new object; `what`: its type's name for texts.
    fn created(&self, handle: usize, what: &'static str);
    /// The program gives the handle back. The handle stays recognisable as destroyed as long as `memory` lives.
    fn destroyed(&self, handle: usize, memory: Box<dyn Any + Send + Sync>);
    /// A call has refused the argument `name`, since it is no handle of a live `what`.
    fn refused(&self, handle: usize, name: &str, what: &'static str);
}

static WATCHER: OnceLock<&'static dyn ObjectWatcher> = OnceLock::new();

/// Registers a watcher for the life of the process; only the first counts.
pub fn watch_objects(watcher: &'static dyn ObjectWatcher) {
    // A second one is ignored.
    let _ = WATCHER.set(watcher);
}

/// Tells the watcher, if there is one.
pub(crate) fn tell(what: impl FnOnce(&dyn ObjectWatcher)) {
    // Out of line: most programs have no watcher.
    #[cold]
    fn told(watcher: &dyn ObjectWatcher, what: impl FnOnce(&dyn ObjectWatcher)) {
        what(watcher);
    }
    if let Some(watcher) = WATCHER.get() {
        told(*watcher, what);
    }
}
