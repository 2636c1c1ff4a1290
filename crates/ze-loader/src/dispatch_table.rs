//! The dispatch table: the word that every call reads first, and how it is chosen.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::phase;
use crate::tables::Tables;
use crate::wrapper::arena;

/// Decides the path of each call. Null: calls go directly through their handles. Otherwise the tables that they go
/// through: the top layer's, or the bottom's, which checks the phase and distinguishes wrapped handles. The word is in
/// the shell, where the exports read it without an indirection; [`attach`] registers it here.
#[derive(Debug)]
pub struct DispatchTable {
    current: AtomicPtr<Tables>,
    bottom: &'static Tables,
}

impl DispatchTable {
    /// The initial choice: the tables below all layers.
    #[must_use]
    pub const fn new(bottom: &'static Tables) -> Self {
        Self {
            current: AtomicPtr::new(std::ptr::from_ref(bottom).cast_mut()),
            bottom,
        }
    }

    /// The tables that calls go through; `None` for directly through the handle.
    #[inline(always)]
    #[must_use]
    pub fn tables(&self) -> Option<&'static Tables> {
        // Relaxed is enough: tables are static, and a handle reaches the caller by its own happens-before edge.
        // SAFETY: null or tables that live as long as the program.
        unsafe { self.current.load(Ordering::Relaxed).as_ref() }
    }

    fn set(&self, tables: *mut Tables) {
        self.current.store(tables, Ordering::SeqCst);
    }

    fn bottom(&self) -> *mut Tables {
        std::ptr::from_ref(self.bottom).cast_mut()
    }
}

/// The shell's table; null in a loader without a shell (unit tests).
static SHELL: AtomicPtr<DispatchTable> = AtomicPtr::new(std::ptr::null_mut());

/// Registers the shell's table. Called when the library is loaded, before anything else.
pub fn attach(table: &'static DispatchTable) {
    SHELL.store(std::ptr::from_ref(table).cast_mut(), Ordering::Release);
    choose();
}

fn current() -> Option<&'static DispatchTable> {
    // SAFETY: null or a static of the shell.
    unsafe { SHELL.load(Ordering::Acquire).as_ref() }
}

/// The top layer's tables, null without layers.
static TOP: AtomicPtr<Tables> = AtomicPtr::new(std::ptr::null_mut());
/// Locked while the table is chosen.
static CHOICE: Mutex<()> = Mutex::new(());

/// The tables that calls go through; `None` for directly through the handle.
pub(crate) fn tables() -> Option<&'static Tables> {
    current()?.tables()
}

/// Marks the loader as usable, unless it is being torn down.
pub(crate) fn mark_ready() {
    phase::make_ready();
    choose();
}

/// Marks the loader as torn down. Returns false if it already was.
pub(crate) fn mark_torn_down() -> bool {
    // Without the lock, because in a forked child, or in a signal handler that calls `exit`, its holder may never
    // continue. A thread that updates the table meanwhile checks the phase again afterwards (both SeqCst).
    let first = phase::tear_down();
    if let Some(table) = current() {
        table.set(table.bottom());
    }
    first
}

/// Puts a layer on top, or removes all layers.
pub(crate) fn set_top(top: Option<&'static Tables>) {
    let top = top.map_or(std::ptr::null_mut(), |top| {
        std::ptr::from_ref(top).cast_mut()
    });
    TOP.store(top, Ordering::Release);
    choose();
}

/// Updates the table after a change of anything that it depends on.
fn choose() {
    let _choice = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(table) = current() else {
        return;
    };
    let top = TOP.load(Ordering::Acquire);
    let tables = if phase::is_torn_down() {
        table.bottom()
    } else if !top.is_null() {
        top
    } else if phase::is_ready_in_order() && !arena::is_in_use() {
        std::ptr::null_mut()
    } else {
        table.bottom()
    };
    table.set(tables);
    if phase::is_torn_down_in_order() {
        table.set(table.bottom());
    }
}
