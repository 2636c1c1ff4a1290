//! Lost devices.
//!
//! A device that hung, was reset or faulted is lost: calls for it return DEVICE_LOST, nothing on it will end, and data that
//! only its memory had is gone. The thread that gets this result ends all lanes of the hardware in the context with that
//! error; if the driver says so of the whole context (Level Zero, "Contexts": it is no longer valid then), all of its lanes.
//! Objects made later work if the driver lets them: lists in the same context, or everything in a new one.
//!
//! Pending commands that follow lost work fail. A command that was on another device by then waits for the lost work by that
//! device's own means and does not fail. A copy that it read may be in doubt, but which commands of an ordered list needed
//! its contents is not known, and failing all of them would end unrelated work.
//!
//! Objects made before a loss may report it late: an allocation under way, a module, a lane that nobody asked meanwhile.
//! Each caller knows the [`Moment`] from which its answer counts; a device that was lost since is not lost a second time.
//!
//! Locks: `LOSING`, then a context's `known` losses, then the lanes' numbers (`FREE`), then each lane's failures, one at a
//! time. A lane's own lock is not taken, so a thread that has it may come here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero::sys::*;

use crate::device::Device;
use crate::error::Error;

/// The losses of a context.
#[derive(Default)]
pub(crate) struct Losses {
    /// How many there were.
    count: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// When and why the whole context was lost.
    all: Option<(Moment, Error)>,
    /// The last loss of each device.
    devices: Vec<Loss>,
}

struct Loss {
    hardware: Device,
    at: Moment,
    error: Error,
}

/// A place in the order of a context's losses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment(u64);

impl Losses {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the whole context is known to be lost.
    pub(crate) fn all(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.known().all.is_some()
    }

    /// The moment after all losses known by now.
    pub(crate) fn moment(&self) -> Moment {
        Moment(self.count.load(Ordering::Acquire))
    }

    /// Why a device, or the whole context, was lost since a moment.
    pub(crate) fn since(&self, hardware: Option<&Device>, moment: Moment) -> Option<Error> {
        if self.moment() <= moment {
            return None;
        }
        let known = self.known();
        if let Some((_, error)) = known.all.as_ref().filter(|(at, _)| *at > moment) {
            return Some(error.clone());
        }
        let mut devices = known.devices.iter();
        let device = devices.find(|loss| Some(&loss.hardware) == hardware && loss.at > moment);
        device.map(|loss| loss.error.clone())
    }

    /// Adds a loss. The caller has `LOSING`.
    pub(super) fn add(&self, hardware: Option<&Device>, all: bool, error: &Error) {
        let mut known = self.known();
        let at = Moment(self.moment().0 + 1);
        if all {
            known.all = Some((at, error.clone()));
        }
        if let Some(hardware) = hardware {
            known.devices.retain(|loss| loss.hardware != *hardware);
            known.devices.push(Loss {
                hardware: hardware.clone(),
                at,
                error: error.clone(),
            });
        }
        self.count.store(at.0, Ordering::Release);
    }
}

/// Whether a call returned that its device is lost.
pub(crate) fn is_lost(error: &Error) -> bool {
    error.backend_code() == Some(ZE_RESULT_ERROR_DEVICE_LOST) && error.cause().is_none()
}

/// The error of a call with an earlier object: if its device was lost since, the result says nothing of newer objects.
#[cold]
pub(crate) fn outlived(error: Error, loss: impl FnOnce() -> Option<Error>) -> Error {
    match is_lost(&error) && loss().is_some() {
        true => {
            Error::because("it was made before its device was lost", &error).with_code(error.errc())
        }
        false => error,
    }
}
