//! Lost devices.
//!
//! A device that hung, was reset or faulted is lost: calls for it return DEVICE_LOST, work on it never ends, and data
//! that was only in its memory is gone. The thread that gets this result ends all lanes of that hardware in the context
//! with the error. If the driver reports the whole context as lost (Level Zero, "Contexts": it is no longer valid
//! then), all lanes of the context end. Objects made later work if the driver allows it: lists in the same context, or
//! everything in a new one.
//!
//! Pending commands that follow lost work fail. A command that was already on another device waits for the lost work by
//! that device's own means and does not fail. The contents that it read may be invalid, but which commands of an
//! in-order list needed them is not known, and failing all of them would end unrelated work.
//!
//! Objects made before a loss may report it late: an allocation under way, a module, a lane that was not polled
//! meanwhile. Each caller knows the [`Moment`] from which its result counts; a device that was lost since then is not
//! lost a second time.
//!
//! Locks: `LOSING`, then a context's `known` losses, then the lanes' numbers (`FREE`), then each lane's failures, one
//! at a time. A lane's own lock is not taken, so a thread that holds one may call this.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero::sys::*;

use crate::device::Device;
use crate::error::Error;

/// The losses of a context.
#[derive(Default)]
pub(crate) struct Losses {
    /// The number of losses.
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

/// A position in the order of a context's losses.
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

    /// The moment after all losses known so far.
    pub(crate) fn moment(&self) -> Moment {
        Moment(self.count.load(Ordering::Acquire))
    }

    /// Why a device or the whole context was lost since a moment.
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

    /// Adds a loss. The caller holds `LOSING`.
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

/// The error of a call with an object that was made before its device was lost: the result does not concern newer
/// objects.
#[cold]
pub(crate) fn outlived(error: Error, loss: impl FnOnce() -> Option<Error>) -> Error {
    match is_lost(&error) && loss().is_some() {
        true => Error::because(
            "the device was lost after this object was made: create it again",
            &error,
        )
        .with_code(error.errc()),
        false => error,
    }
}
