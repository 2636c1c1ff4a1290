//! Counts of created and destroyed objects, for the end of the process.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::generated::FUNCTIONS;
use crate::validation::finding::{Finding, Severity};
use crate::validation::lifetime;
use crate::validation::modes::LIFETIME;
use crate::value::function;

/// The functions that create and destroy each kind. The counts of several creating functions add up.
pub(super) const PAIRS: [(&[&str], &[&str]); 13] = [
    (
        &["zeContextCreate", "zeContextCreateEx"],
        &["zeContextDestroy"],
    ),
    (&["zeCommandQueueCreate"], &["zeCommandQueueDestroy"]),
    (&["zeModuleCreate"], &["zeModuleDestroy"]),
    (&["zeKernelCreate"], &["zeKernelDestroy"]),
    (&["zeEventPoolCreate"], &["zeEventPoolDestroy"]),
    (
        &[
            "zeCommandListCreate",
            "zeCommandListCreateImmediate",
            "zeCommandListCreateCloneExp",
        ],
        &["zeCommandListDestroy"],
    ),
    (
        &["zeEventCreate", "zeEventCounterBasedCreate"],
        &["zeEventDestroy"],
    ),
    (&["zeFenceCreate"], &["zeFenceDestroy"]),
    (
        &[
            "zeImageCreate",
            "zeImageViewCreateExt",
            "zeImageViewCreateExp",
        ],
        &["zeImageDestroy"],
    ),
    (&["zeSamplerCreate"], &["zeSamplerDestroy"]),
    (
        &["zeMemAllocDevice", "zeMemAllocHost", "zeMemAllocShared"],
        &["zeMemFree", "zeMemFreeExt"],
    ),
    (&["zePhysicalMemCreate"], &["zePhysicalMemDestroy"]),
    (&["zeGraphCreateExt"], &["zeGraphDestroyExt"]),
];

static MADE: [AtomicU64; PAIRS.len()] = [const { AtomicU64::new(0) }; PAIRS.len()];
static DESTROYED: [AtomicU64; PAIRS.len()] = [const { AtomicU64::new(0) }; PAIRS.len()];

/// A function's pair, and whether it creates.
pub(super) fn role(index: usize) -> Option<(usize, bool)> {
    static ROLES: OnceLock<Vec<Option<(usize, bool)>>> = OnceLock::new();
    let roles = ROLES.get_or_init(|| {
        (0..FUNCTIONS)
            .map(|index| {
                let name = function(index).name;
                PAIRS
                    .iter()
                    .enumerate()
                    .find_map(|(pair, (makes, destroys))| {
                        let makes = makes.contains(&name);
                        (makes || destroys.contains(&name)).then_some((pair, makes))
                    })
            })
            .collect()
    });
    roles.get(index).copied().flatten()
}

/// Records a successful call of this function.
pub(super) fn after(index: usize) {
    if let Some((pair, makes)) = role(index) {
        let counts = if makes { &MADE } else { &DESTROYED };
        counts[pair].fetch_add(1, Ordering::Relaxed);
    }
}

/// Prints the table, and reports leaks as findings.
pub(super) fn finish(modes: u32) {
    let mut text = String::from("Balance of create and destroy calls\n");
    let mut findings = Vec::new();
    for (pair, (makes, destroys)) in PAIRS.iter().enumerate() {
        let made = MADE[pair].swap(0, Ordering::Relaxed);
        let destroyed = DESTROYED[pair].swap(0, Ordering::Relaxed);
        let (makes, destroys) = (makes.join(" + "), destroys.join(" + "));
        write!(text, "  {makes} = {made}, {destroys} = {destroyed}").ok();
        if made != destroyed {
            let difference = i128::from(made) - i128::from(destroyed);
            write!(text, "  ---> LEAK = {difference}").ok();
            let rule = format!(
                "{makes} was called {made} times, {destroys} {destroyed} times: LEAK = {difference}"
            );
            findings.push(Finding::new(Severity::Warning, "leaks", rule));
        }
        text.push('\n');
    }
    if !crate::validation::finding::is_json() {
        signal_mask::write_stderr(text.as_bytes());
    }
    for finding in findings {
        finding.report();
    }
    if modes & LIFETIME != 0 {
        for (kind, address, origin) in lifetime::alive() {
            let rule = format!("this {kind} was never destroyed");
            Finding::new(Severity::Warning, "leaks", rule)
                .named("handle", format!("{address:#x}"))
                .created(Some(origin))
                .report();
        }
    }
}
