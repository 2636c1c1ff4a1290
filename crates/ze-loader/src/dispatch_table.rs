//! The one word that every call reads first, and what decides it.

use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::generated::bottom::BOTTOM;
use crate::tables::Tables;
use crate::wrapper::arena;

/// No init function has succeeded yet.
const IDLE: u8 = 0;
/// At least one driver is initialised.
const READY: u8 = 1;
/// The loader is going away; every call answers UNINITIALIZED.
const TORN_DOWN: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(IDLE);

/// The word that decides the way of each call: null while calls go straight through their handles; else the tables that
/// they go through: the top layer's, or the bottom's, which tells the states apart and handles of wrapped drivers from
/// others. It stands in the shell, where the exports read it without a detour; [`attach`] makes it known here.
#[derive(Debug)]
pub struct Way(AtomicPtr<Tables>);

impl Way {
    /// The way before initialisation.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "there is one, and it is static")]
    pub const fn new() -> Way {
        Way(AtomicPtr::new((&raw const BOTTOM).cast_mut()))
    }

    /// The tables that calls go through; `None`: straight through the handle.
    #[inline(always)]
    #[must_use]
    pub fn tables(&self) -> Option<&'static Tables> {
        // Relaxed is enough: tables are static, and a handle reaches the caller by a happens-before edge of its own.
        // SAFETY: null or tables that live as long as the program.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }
}

/// The way of a loader without a shell (tests), and where the shell's is.
static OWN: Way = Way::new();
static SHELL: AtomicPtr<Way> = AtomicPtr::new(std::ptr::null_mut());

/// Makes the shell's word known; called before anything else, when the library is loaded.
pub fn attach(way: &'static Way) {
    SHELL.store(std::ptr::from_ref(way).cast_mut(), Ordering::Release);
    choose();
}

fn current() -> &'static Way {
    // SAFETY: null or a static of the shell.
    unsafe { SHELL.load(Ordering::Acquire).as_ref() }.unwrap_or(&OWN)
}

/// The top layer's tables, null without layers. Behind the lock stands the choice of the way.
static TOP: AtomicPtr<Tables> = AtomicPtr::new(std::ptr::null_mut());
static CHOICE: Mutex<()> = Mutex::new(());

/// The tables of the top layer, or of the bottom.
#[must_use]
pub fn tables() -> &'static Tables {
    current().tables().unwrap_or(&BOTTOM)
}

/// The tables below all layers.
#[must_use]
pub fn bottom() -> &'static Tables {
    &BOTTOM
}

/// True when calls may be dispatched.
#[inline(always)]
#[must_use]
pub fn is_ready() -> bool {
    STATE.load(Ordering::Relaxed) == READY
}

/// True once teardown has begun.
#[must_use]
pub fn is_torn_down() -> bool {
    STATE.load(Ordering::Acquire) == TORN_DOWN
}

/// Marks the loader as usable, unless it is being torn down.
pub(crate) fn mark_ready() {
    // A failed exchange means: ready already, or torn down, and both stay.
    let _ = STATE.compare_exchange(IDLE, READY, Ordering::Release, Ordering::Relaxed);
    choose();
}

/// Marks the loader as torn down; returns false when it was already.
pub(crate) fn mark_torn_down() -> bool {
    // Without the lock: in a forked child, or in a signal handler that calls `exit`, its holder may never go on. A thread
    // that chooses meanwhile looks at the state once more when it has (both SeqCst).
    let first = STATE.swap(TORN_DOWN, Ordering::SeqCst) != TORN_DOWN;
    current()
        .0
        .store((&raw const BOTTOM).cast_mut(), Ordering::SeqCst);
    first
}

/// Puts a layer on top, or takes all away.
pub(crate) fn set_top(top: Option<&'static Tables>) {
    let top = top.map_or(std::ptr::null_mut(), |top| {
        std::ptr::from_ref(top).cast_mut()
    });
    TOP.store(top, Ordering::Release);
    choose();
}

/// Chooses the way anew, after anything that it depends on has changed.
fn choose() {
    let _choice = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    let bottom = (&raw const BOTTOM).cast_mut();
    let top = TOP.load(Ordering::Acquire);
    let way = match STATE.load(Ordering::Acquire) {
        TORN_DOWN => bottom,
        _ if !top.is_null() => top,
        READY if !arena::is_in_use() => std::ptr::null_mut(),
        _ => bottom,
    };
    current().0.store(way, Ordering::SeqCst);
    if STATE.load(Ordering::SeqCst) == TORN_DOWN {
        current().0.store(bottom, Ordering::SeqCst);
    }
}
