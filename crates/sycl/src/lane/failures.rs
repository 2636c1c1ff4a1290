//! What of the lanes' work did not happen: its device was lost, or its list could not be executed.
//!
//! Numbers that failed are known for good, also when their lane's place has another list by then: a buffer may be looked
//! at long afterwards, and finds out then what it has not got.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Lane;
use crate::error::{Errc, Error, Result};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// How often work failed that buffers count on. Whoever sees a failure sees it counted.
pub(crate) fn failures() -> u64 {
    COUNT.load(Ordering::Acquire)
}

/// Work that buffers count on has failed, which can be seen.
pub(crate) fn count_failure() {
    COUNT.fetch_add(1, Ordering::Release);
}

/// One lane's.
pub(super) struct Failures {
    /// The least number that ever failed.
    first: AtomicU64,
    /// Nothing runs on its list any more.
    lost: AtomicBool,
    known: Mutex<Vec<Failure>>,
}

/// All of one list from some point on.
struct Failure {
    first: u64,
    /// Known when the list is gone.
    last: u64,
    error: Error,
}

impl Failures {
    pub(super) const fn none() -> Self {
        Self {
            first: AtomicU64::new(u64::MAX),
            lost: AtomicBool::new(false),
            known: Mutex::new(Vec::new()),
        }
    }

    fn known(&self) -> MutexGuard<'_, Vec<Failure>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All behind a number fails, now and later. Before such work counts as over.
    pub(super) fn begin(&self, behind: u64, error: &Error) {
        let mut known = self.known();
        match known.last_mut().filter(|known| known.last == u64::MAX) {
            Some(failure) if failure.first <= behind + 1 => return,
            Some(failure) => failure.first = behind + 1,
            None => known.push(Failure {
                first: behind + 1,
                last: u64::MAX,
                error: error.clone(),
            }),
        }
        self.first.fetch_min(behind + 1, Ordering::Release);
        self.lost.store(true, Ordering::Release);
        count_failure();
    }

    /// The list is gone; this was its last number. Whether something on it failed.
    pub(super) fn end(&self, last: u64) -> bool {
        let mut known = self.known();
        if let Some(failure) = known.last_mut().filter(|known| known.last == u64::MAX) {
            failure.last = last;
        }
        self.lost.swap(false, Ordering::AcqRel)
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
        let cause = known.last().map(|failure| &failure.error);
        let text = "nothing runs here any more";
        Err(cause.map_or_else(
            || Error::new(Errc::Runtime, text),
            |cause| Error::because(text, cause).with_code(cause.errc()),
        ))
    }
}

impl Lane {
    /// Why a command did not happen, or nobody can say that it did.
    #[inline]
    pub(crate) fn failure(&self, sequence: u64) -> Option<Error> {
        if sequence < self.failures.first.load(Ordering::Acquire) {
            return None;
        }
        let known = self.failures.known();
        let of = |failure: &&Failure| (failure.first..=failure.last).contains(&sequence);
        known.iter().find(of).map(|failure| failure.error.clone())
    }
}
