//! Which transforms the random kernels have reached, by the compiler's coverage marks.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use kernel_ir::marks::{Mark, count};

/// Tests of this binary that compile random kernels.
const TESTS: usize = 7;

static FINISHED: AtomicUsize = AtomicUsize::new(0);

/// Each test says so when it is done. The last one prints how often each mark was hit, and fails if one was not.
pub(crate) fn finished() {
    if FINISHED.fetch_add(1, Ordering::SeqCst) + 1 < TESTS {
        return;
    }
    let mut text = String::from("coverage marks of the random kernels:");
    let mut missing = Vec::new();
    for (i, &mark) in Mark::ALL.iter().enumerate() {
        let name = mark.name();
        let line = if i % 4 == 0 { "\n" } else { "" };
        // Writing to a string does not fail.
        let _ = write!(text, "{line}  {name:<27}{:>6}", count(mark));
        if count(mark) == 0 {
            missing.push(name);
        }
    }
    // Past the test harness, which shows nothing of tests that pass.
    let _ = writeln!(std::io::stderr(), "{text}");
    assert!(
        missing.is_empty() || !is_usual(),
        "no random kernel reaches {missing:?}: add a kernel that does to `random/shapes`, or delete the transform"
    );
}

/// Whether the run has its usual length and seeds.
fn is_usual() -> bool {
    let variables = ["SOLUM_RANDOM_KERNELS", "SOLUM_RANDOM_FIRST"];
    variables
        .iter()
        .all(|name| std::env::var_os(name).is_none())
}
