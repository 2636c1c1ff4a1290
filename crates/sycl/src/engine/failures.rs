//! Failures of lanes: commands that did not run because their device was lost ([`super::losses`]) or their list could not be
//! executed.
//!
//! Numbers that failed are remembered for good, also when their lane has another list by then: a buffer may look long
//! afterwards. If a lane's lists were lost more often than [`MOST`] times, old numbers may count as failed that did not. A
//! look at a number of the present list reads one word while that list is not lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use work_progress::Progress;

use crate::error::{Errc, Error, Result};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// How many failures that concern buffers were counted. A thread that sees a failure sees it counted.
pub(crate) fn failures() -> u64 {
    COUNT.load(Ordering::Acquire)
}

/// Counts a failure that is visible now.
pub(crate) fn count_failure() {
    COUNT.fetch_add(1, Ordering::Release);
}

/// The error of a submission to lost hardware.
pub(crate) fn lost(cause: &Error) -> Error {
    Error::because("no work can run here any more", cause).with_code(cause.errc())
}

/// So many lists of a lane are told apart.
const MOST: usize = 64;

/// The failures of one lane.
pub(super) struct Failures {
    /// The greatest number that failed; all to come, while the list is lost. 0 without any.
    last: AtomicU64,
    /// The least number that ever failed.
    first: AtomicU64,
    /// Its list takes no more work.
    lost: AtomicBool,
    /// Its device was lost: nothing that is on it will end.
    device_lost: AtomicBool,
    known: Mutex<Known>,
}

struct Known {
    failures: Vec<Failure>,
    /// The list's owner: the addresses of the context's value and of the hardware's handle; no hardware for a user event.
    of: (usize, Option<usize>),
}

/// All commands of one list from a number on.
struct Failure {
    first: u64,
    /// Known when the list is gone.
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

    /// A list or an event is the lane's from now on; its context and hardware as addresses.
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

    /// If `is_lost` holds for the list's context and hardware, every command not known to have ended counts as ended, and as
    /// failed.
    pub(super) fn lose(
        &self,
        progress: &Progress,
        is_lost: impl FnOnce(usize, Option<usize>) -> bool,
        error: &Error,
    ) {
        // Under this lock the lane gets no other list.
        let mut known = self.known();
        if is_lost(known.of.0, known.of.1) {
            self.begin_locked(&mut known, progress.done(), error);
            self.device_lost.store(true, Ordering::Release);
            progress.end_all();
        }
    }

    /// The list is gone; `last` was its last number. Whether a command on it failed.
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

    /// Whether a number may be one that failed.
    #[inline]
    fn may_have(&self, sequence: u64) -> bool {
        // No number is 0. A thread that sees the greatest sees the least that goes with it, or a lesser one.
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

    /// Whether its device was lost.
    pub(super) fn is_device_lost(&self) -> bool {
        self.device_lost.load(Ordering::Acquire)
    }

    /// Whether its list takes no more work.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Refuses more work on a lost list.
    pub(super) fn refuse(&self) -> Result<()> {
        if !self.is_lost() {
            return Ok(());
        }
        let known = self.known();
        let cause = known.failures.last().map(|failure| &failure.error);
        let unknown = || Error::new(Errc::Runtime, "no work can run here any more");
        Err(cause.map_or_else(unknown, lost))
    }
}

/// Merges failures while there are too many: two without commands between them, else the oldest two. Commands between those
/// then count as failed.
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

    /// A look at other numbers takes no lock: here it would block for ever.
    #[test]
    fn who_asks_for_what_has_not_failed_reads_a_word() {
        let failures = Failures::none();
        let has = |numbers: &[u64]| {
            let _locked = failures.known();
            let mut numbers = numbers.iter();
            numbers.all(|number| !failures.may_have(*number) && failures.of(*number).is_none())
        };
        assert!(has(&[1, 10, u64::MAX]));
        failures.begin(9, &error());
        assert!(has(&[1, 9]) && failures.of(10).is_some() && failures.of(1 << 40).is_some());
        assert!(failures.end(12), "of these some failed");
        assert!(
            has(&[1, 9, 13, 1 << 40]) && failures.of(10).is_some() && failures.of(12).is_some()
        );
    }

    /// A list that was lost without commands leaves no failure behind.
    #[test]
    fn what_failed_with_nothing_on_it_is_forgotten() {
        let failures = Failures::none();
        failures.begin(4, &error());
        assert!(failures.is_lost() && failures.of(5).is_some());
        assert!(!failures.end(4), "nothing failed");
        assert!(!failures.is_lost() && failures.known().failures.is_empty());
        assert!(!failures.may_have(4) && !failures.may_have(5));
        assert!(!failures.end(7), "nor on a list that went well");
        failures.begin(7, &error());
        assert!(failures.end(8) && failures.of(8).is_some());
        assert!(!failures.end(20) && failures.of(8).is_some() && failures.of(9).is_none());
    }

    /// However often its lists are lost, all failures are known, and the latest successes.
    #[test]
    fn a_place_keeps_so_many_failures() {
        let failures = Failures::none();
        let (mut failed, mut well) = (Vec::new(), Vec::new());
        let mut last = 0;
        for list in 0..10_000_u64 {
            // Every third list has no command but one that fails.
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
        assert!(!well.iter().rev().take(500).any(has), "of the latest lists");
        assert!(!has(&(last + 1)));
    }
}
