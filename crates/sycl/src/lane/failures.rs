//! What of the lanes' work did not happen: its device was lost ([`super::losses`]), or its list could not be executed.
//!
//! Numbers that failed are known for good, also when their lane's place has another list by then: a buffer may be looked
//! at long afterwards, and finds out then what it has not got.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use work_progress::Progress;

use super::Lane;
use super::losses::lost;
use crate::context::NativeContext;
use crate::device::Device;
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
    /// Its device was lost: nothing that is on it will end.
    device_lost: AtomicBool,
    known: Mutex<Known>,
}

struct Known {
    failures: Vec<Failure>,
    /// Whose list it has: the addresses of the context's value and of the hardware's handle; none for somebody's event.
    of: (usize, Option<usize>),
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
            device_lost: AtomicBool::new(false),
            known: Mutex::new(Known {
                failures: Vec::new(),
                of: (0, None),
            }),
        }
    }

    /// A list, or an event, is its lane's from now on.
    pub(super) fn start(&self, context: &Arc<NativeContext>, device: Option<&Device>) {
        let hardware = device.map(|device| device.hardware().handle().addr());
        self.known().of = (Arc::as_ptr(context).addr(), hardware);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All behind a number fails, now and later. Before such work counts as over.
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
        self.first.fetch_min(behind + 1, Ordering::Release);
        self.lost.store(true, Ordering::Release);
        count_failure();
    }

    /// Where the lane's list is one of those that `is_lost` means, by context and hardware, all of it that is not known to
    /// have ended is over, and has failed.
    pub(super) fn lose(
        &self,
        progress: &Progress,
        is_lost: impl FnOnce(usize, Option<usize>) -> bool,
        error: &Error,
    ) {
        // Under its lock the lane gets no other list.
        let mut known = self.known();
        if is_lost(known.of.0, known.of.1) {
            self.begin_locked(&mut known, progress.done(), error);
            self.device_lost.store(true, Ordering::Release);
            progress.end_all();
        }
    }

    /// The list is gone; this was its last number. Whether something on it failed.
    pub(super) fn end(&self, last: u64) -> bool {
        let mut known = self.known();
        known.of = (0, None);
        let failures = &mut known.failures;
        if let Some(failure) = failures.last_mut().filter(|known| known.last == u64::MAX) {
            failure.last = last;
        }
        self.device_lost.store(false, Ordering::Release);
        self.lost.swap(false, Ordering::AcqRel)
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
        let unknown = || Error::new(Errc::Runtime, "nothing runs here any more");
        Err(cause.map_or_else(unknown, lost))
    }
}

impl Lane {
    /// Whether its list takes no more work.
    pub(crate) fn is_lost(&self) -> bool {
        self.failures.is_lost()
    }

    /// Refuses work where its device was lost.
    pub(crate) fn refuse_lost_device(&self) -> Result<()> {
        match self.failures.is_device_lost() {
            true => self.failures.refuse(),
            false => Ok(()),
        }
    }

    /// Why a command did not happen, or nobody can say that it did.
    #[inline]
    pub(crate) fn failure(&self, sequence: u64) -> Option<Error> {
        if sequence < self.failures.first.load(Ordering::Acquire) {
            return None;
        }
        let known = self.failures.known();
        let of = |failure: &&Failure| (failure.first..=failure.last).contains(&sequence);
        let mut failures = known.failures.iter();
        failures.find(of).map(|failure| failure.error.clone())
    }
}
