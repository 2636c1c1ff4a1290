//! `UR_L0_LEAKS_DEBUG`: counts created and destroyed Level Zero objects and reports them at exit.
//!
//! Invariants: calls that create or destroy nothing cost nothing more. Others cost a load and a branch while the
//! variable is not set. Handles that the program transfers count as created. Where a leak comes from is not recorded.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const KINDS: [&str; 10] = [
    "context",
    "command queue",
    "command list",
    "event pool",
    "event",
    "image",
    "sampler",
    "module",
    "kernel",
    "memory",
];

/// The calls that create or destroy an object, with its index in [`KINDS`].
const CALLS: [(&str, usize, bool); 23] = [
    ("zeContextCreate", 0, true),
    ("zeContextDestroy", 0, false),
    ("zeCommandQueueCreate", 1, true),
    ("zeCommandQueueDestroy", 1, false),
    ("zeCommandListCreate", 2, true),
    ("zeCommandListCreateImmediate", 2, true),
    ("zeCommandListDestroy", 2, false),
    ("zeEventPoolCreate", 3, true),
    ("zeEventPoolDestroy", 3, false),
    ("zeEventCreate", 4, true),
    ("zeEventDestroy", 4, false),
    ("zeImageCreate", 5, true),
    ("zeImageDestroy", 5, false),
    ("zeSamplerCreate", 6, true),
    ("zeSamplerDestroy", 6, false),
    ("zeModuleCreate", 7, true),
    ("zeModuleDestroy", 7, false),
    ("zeKernelCreate", 8, true),
    ("zeKernelDestroy", 8, false),
    ("zeMemAllocDevice", 9, true),
    ("zeMemAllocHost", 9, true),
    ("zeMemAllocShared", 9, true),
    ("zeMemFree", 9, false),
];

/// The effect of a call on the counts.
#[derive(Clone, Copy)]
pub(crate) struct Effect {
    kind: usize,
    makes: bool,
}

/// The effect of a call by its name; `None` for most calls.
pub(crate) const fn effect(function: &str) -> Option<Effect> {
    let mut at = 0;
    while at < CALLS.len() {
        let (known, kind, makes) = CALLS[at];
        if is_same(known.as_bytes(), function.as_bytes()) {
            return Some(Effect { kind, makes });
        }
        at += 1;
    }
    None
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

static ON: AtomicBool = AtomicBool::new(false);
static MADE: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];
static GONE: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];

/// Counts a call that succeeded.
pub(crate) fn count(effect: Effect) {
    if ON.load(Ordering::Relaxed) {
        let counts = if effect.makes { &MADE } else { &GONE };
        counts[effect.kind].fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts a handle that the program transferred.
pub(crate) fn adopted(what: &str) {
    if let Some(kind) = KINDS.iter().position(|kind| *kind == what) {
        count(Effect { kind, makes: true });
    }
}

/// Starts counting.
pub(crate) fn start() {
    ON.store(true, Ordering::Relaxed);
}

/// The report: one line for each kind that the program used.
pub(crate) fn report() -> String {
    let read = |counts: &AtomicU64| counts.load(Ordering::Relaxed);
    let mut text = String::from("UR_L0_LEAKS_DEBUG: objects made and destroyed");
    for (kind, (made, gone)) in KINDS.iter().zip(MADE.iter().zip(&GONE)) {
        let (made, gone) = (read(made), read(gone));
        if made + gone > 0 {
            let leak = if made == gone { "" } else { ": LEAK" };
            let _ = write!(text, "\n  {kind}: {made} made, {gone} destroyed{leak}");
        }
    }
    text
}
