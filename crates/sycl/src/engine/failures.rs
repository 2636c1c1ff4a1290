//! Failures of lanes: commands that did not run because their device was lost ([`super::losses`]) or their list could not be
//! executed.
//!
//! Failed numbers are kept for good, even when their lane has another list by then, because a buffer may ask long
//! afterwards. If a lane lost its list more than [`MOST`] times, old numbers that succeeded may count as failed.
//! Checking a number of the current list reads one word while that list is not lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sycl_graph::Progress;

use crate::error::{Errc, Error, Result};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The number of failures that concern buffers. A failure is counted before a thread can see it.
pub(crate) fn failures() -> u64 {
    COUNT.load(Ordering::Acquire)
}

/// Counts a failure that is visible now.
pub(crate) fn count_failure() {
    COUNT.fetch_add(1, Ordering::Release);
}

/// The error of a submission to lost hardware.
pub(crate) fn lost(cause: &Error) -> Error {
    Error::because(
        "the queue accepts no more work: create a new queue or context",
        cause,
    )
    .with_code(cause.errc())
}

/// The number of failures that a lane distinguishes.
const MOST: usize = 64;

/// The failures of one lane.
pub(super) struct Failures {
    /// The greatest failed number; `u64::MAX` while the list is lost, 0 without a failure.
    last: AtomicU64,
    /// The least number that ever failed.
    first: AtomicU64,
    /// The list takes no more work.
    lost: AtomicBool,
    /// The device was lost: no work on it will end.
    device_lost: AtomicBool,
    known: Mutex<Known>,
}

struct Known {
    failures: Vec<Failure>,
    /// The list's owner: addresses of the context's value and of the hardware's handle (no hardware for a user event).
    of: (usize, Option<usize>),
}

/// All commands of one list from a number on.
struct Failure {
    first: u64,
    /// Known once the list is closed.
    last: u64,
    error: Error,
}

impl Failures {
    pub(super) const fn none() -> Self {
        Self {
            last: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
            lost: AtomicBool::new(false),
            device_lost: AtomicBool::new(false),
            known: Mutex::new(Known {
                failures: Vec::new(),
                of: (0, None),
            }),
        }
    }

    /// The lane has a new list or event from now on; its context and hardware are given as addresses.
    pub(super) fn start(&self, context: usize, hardware: Option<usize>) {
        self.known().of = (context, hardware);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All commands behind a number fail, now and later. Called before they count as ended.
    pub(super) fn begin(&self, behind: u64, error: &Error) {
        self.begin_locked(&mut self.known(), behind, error);
    }

    fn begin_locked(&self, known: &mut Known, behind: u64, error: &Error) {
        let failures = &mut known.failures;
        match failures.last_mut().filter(|known| known.last == u64::MAX) {
            Some(failure) if failure.first <= behind + 1 => return,
            Some(failure) => failure.first = behind + 1,
            None => failures.push(Failure {
                first: behind + 1,
                last: u64::MAX,
                error: error.clone(),
            }),
        }
        self.first.fetch_min(behind + 1, Ordering::Relaxed);
        self.last.store(u64::MAX, Ordering::Release);
        self.lost.store(true, Ordering::Release);
        count_failure();
    }

    /// If `is_lost` holds for the list's context and hardware, all commands not known to have ended count as ended and
    /// failed.
    pub(super) fn lose(
        &self,
        progress: &Progress,
        is_lost: impl FnOnce(usize, Option<usize>) -> bool,
        error: &Error,
    ) {
        // The lane gets no other list while this lock is held.
        let mut known = self.known();
        if is_lost(known.of.0, known.of.1) {
            self.begin_locked(&mut known, progress.done(), error);
            self.device_lost.store(true, Ordering::Release);
            progress.end_all();
        }
    }

    /// Closes the list, whose last number was `last`. Returns whether a command on it failed.
    pub(super) fn end(&self, last: u64) -> bool {
        let mut known = self.known();
        known.of = (0, None);
        let failures = &mut known.failures;
        let open = failures.last_mut().filter(|known| known.last == u64::MAX);
        let failed = open.is_some_and(|failure| {
            failure.last = last;
            failure.first <= last
        });
        if !failed && self.is_lost() {
            failures.pop();
        }
        forget_differences(failures);
        let first = failures.first().map_or(u64::MAX, |failure| failure.first);
        let last = failures.last().map_or(0, |failure| failure.last);
        self.first.store(first, Ordering::Relaxed);
        self.last.store(last, Ordering::Release);
        self.device_lost.store(false, Ordering::Release);
        self.lost.store(false, Ordering::Release);
        failed
    }

    /// Whether a number may be a failed one.
    #[inline]
    fn may_have(&self, sequence: u64) -> bool {
        // No number is 0. A thread that reads the greatest reads the matching least, or a lesser one.
        sequence <= self.last.load(Ordering::Acquire)
            && sequence >= self.first.load(Ordering::Relaxed)
    }

    /// Why a number failed.
    #[inline]
    pub(super) fn of(&self, sequence: u64) -> Option<Error> {
        if !self.may_have(sequence) {
            return None;
        }
        let known = self.known();
        let is_of = |failure: &&Failure| (failure.first..=failure.last).contains(&sequence);
        let mut failures = known.failures.iter();
        failures.find(is_of).map(|failure| failure.error.clone())
    }

    /// Whether the lane's device was lost.
    pub(super) fn is_device_lost(&self) -> bool {
        self.device_lost.load(Ordering::Acquire)
    }

    /// Whether the lane's list takes no more work.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Returns an error if the list is lost.
    pub(super) fn refuse(&self) -> Result<()> {
        if !self.is_lost() {
            return Ok(());
        }
        let known = self.known();
        let cause = known.failures.last().map(|failure| &failure.error);
        let unknown = || {
            Error::new(
                Errc::Runtime,
                "the queue accepts no more work: create a new queue or context",
            )
        };
        Err(cause.map_or_else(unknown, lost))
    }
}

/// Merges failures while there are too many: two without commands between them, else the oldest two. The commands
/// between those then count as failed.
fn forget_differences(failures: &mut Vec<Failure>) {
    while failures.len() > MOST {
        // The number after a list's last belongs to no command: see `CommandLane::close_unless_used`.
        let mut pairs = failures.windows(2);
        let place = pairs.position(|pair| pair[1].first <= pair[0].last + 2);
        let place = place.unwrap_or(0);
        let later = failures.remove(place + 1);
        failures[place].last = later.last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> Error {
        Error::new(Errc::Runtime, "it failed")
    }

    /// Checking a number that did not fail takes no lock; with one this test would block forever.
    #[test]
    fn checking_a_number_that_did_not_fail_takes_no_lock() {
        let failures = Failures::none();
        let has = |numbers: &[u64]| {
            let _locked = failures.known();
            let mut numbers = numbers.iter();
            numbers.all(|number| !failures.may_have(*number) && failures.of(*number).is_none())
        };
        assert!(has(&[1, 10, u64::MAX]));
        failures.begin(9, &error());
        assert!(has(&[1, 9]) && failures.of(10).is_some() && failures.of(1 << 40).is_some());
        assert!(failures.end(12), "some of the list's commands failed");
        assert!(
            has(&[1, 9, 13, 1 << 40]) && failures.of(10).is_some() && failures.of(12).is_some()
        );
    }

    /// A list that was lost without commands leaves no failure behind.
    #[test]
    fn a_lost_list_without_commands_is_forgotten() {
        let failures = Failures::none();
        failures.begin(4, &error());
        assert!(failures.is_lost() && failures.of(5).is_some());
        assert!(!failures.end(4), "nothing failed");
        assert!(!failures.is_lost() && failures.known().failures.is_empty());
        assert!(!failures.may_have(4) && !failures.may_have(5));
        assert!(!failures.end(7), "nothing failed on the next list either");
        failures.begin(7, &error());
        assert!(failures.end(8) && failures.of(8).is_some());
        assert!(!failures.end(20) && failures.of(8).is_some() && failures.of(9).is_none());
    }

    /// All failures are known however often lists are lost, and so are the latest successes.
    #[test]
    fn a_lane_keeps_a_bounded_number_of_failures() {
        let failures = Failures::none();
        let (mut failed, mut well) = (Vec::new(), Vec::new());
        let mut last = 0;
        for list in 0..10_000_u64 {
            // Every third list has one command, which fails.
            let before = if list % 3 == 0 { 0 } else { list % 50 };
            failures.begin(last + before, &error());
            well.extend((1..=before).map(|number| last + number));
            last += before + 1;
            failed.push(last);
            assert!(failures.end(last));
            assert!(failures.known().failures.len() <= MOST);
            // This number belongs to no command.
            last += 1;
        }
        let has = |number: &u64| failures.of(*number).is_some();
        assert!(failed.iter().all(has));
        assert!(
            !well.iter().rev().take(500).any(has),
            "a success on one of the latest lists counts as failed"
        );
        assert!(!has(&(last + 1)));
    }
}
